"""Calibration of BAGUA's testbed: scripts/calibrate_bagua.py."""
