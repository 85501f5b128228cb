"""Models whose layer-time profiles scripts/make_profiles.py writes, one family per file.

A profile lists tensors in the order of the forward pass. Backward completes gradients in the
reverse order, spending `backward_s` of a row just before the gradient of that row is complete.

FLOPs are those of matrix products alone, a multiply and an add being two: of a convolution as the
product of its windows with its filters, and of attention also the scores and the weighted sums. The
backward pass has two products of the same size, for the gradients of weights and of inputs; the first
layer, whose input is the data, has one.
"""
