"""Kills ranks of `trigram launch` at random moments: training ends with the weights of an undisturbed job."""

from __future__ import annotations

import os
import random
import signal
import time
import unittest

from test_launch import EVERY, Launch, job

KILLS_PER_JOB = 5


class Kills(Launch):
    kills = int(os.environ.get("KILLS", "50"))

    def test_they_do_not_change_the_result(self) -> None:
        config = job(steps=3000, eval_every=0, checkpoint={"every": EVERY * 10})
        expected = self.weights_of_undisturbed_run(config)
        moments = random.Random(7)
        killed = jobs = 0
        while killed < self.kills:
            jobs += 1
            self.assertLess(jobs, self.kills)
            launch = self.start_launch(config, "-o", f"results{jobs}", "--max-restarts", KILLS_PER_JOB)
            for _ in range(min(KILLS_PER_JOB, self.kills - killed)):
                self.wait_for(lambda: self.ranks(launch) or launch.poll() is not None)
                time.sleep(moments.random())
                ranks = self.ranks(launch)
                if not ranks:
                    break  # the job has ended
                os.kill(moments.choice(ranks), signal.SIGKILL)
                killed += 1
                self.wait_for(lambda: not set(ranks) & set(self.ranks(launch)))
            out, err = launch.communicate(timeout=100)
            self.assertEqual(launch.returncode, 0, out + err)
            self.results = self.folder / f"results{jobs}" / "test"
            (manifest,) = self.manifests()
            self.assertEqual(manifest["summary"]["weights_hash"], expected, err)
            self.assertEqual(manifest["summary"]["steps"], 3000)
        print(f"{killed} kills in {jobs} jobs")


def load_tests(_loader: unittest.TestLoader, _tests: unittest.TestSuite, _pattern: str | None) -> unittest.TestSuite:
    return unittest.TestSuite([Kills("test_they_do_not_change_the_result")])  # not the tests of Launch
