"""Models whose layer-time profiles scripts/make_profiles.py writes, one family per file.

A profile lists tensors in the order of the forward pass. The backward pass completes gradients in the reverse order. It
spends the time `backward_s` of a row just before the gradient of that row is complete.

FLOPs count only matrix products; a multiply and an add count as two. A convolution counts as the
product of its windows with its filters; attention also counts the scores and the weighted sums. The
backward pass has two products of the same size, for the gradients of weights and of inputs; the
first layer, whose input is the data, has only one.
"""
