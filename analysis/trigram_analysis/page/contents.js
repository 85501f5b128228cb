// The table of contents, made from the headings of a section, and of the sections that follow all experiments.

const slug = text => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

export function startContents(section) {
  const host = section.querySelector(":scope > nav.toc");
  const headings = [...section.querySelectorAll("h3"), ...document.querySelectorAll("main > section:not(.experiment) > h2")];
  const link = (target, text) => {
    const a = document.createElement("a");
    a.href = `#${target.id}`;
    a.textContent = text;
    return a;
  };
  for (const heading of headings) heading.id ||= `${section.id}-${slug(heading.textContent)}`;
  host.replaceChildren(...headings.map(heading => link(heading, heading.textContent)));
}
