"""Candidate schedules: facts of a kernel and a device in, schedules that may be fast out.

Read `patterns` first, the table of what is proposed, then `levels`.
"""
