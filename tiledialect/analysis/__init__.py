"""Analyses: a program or a kernel in, facts about it out; nothing is changed.

Read `kernel_facts` first: the facts from which schedules are chosen.
"""
