"""Views: layout patterns in, index expressions into memory out.

Read `views` first, then `output_views`, the places of results.
"""
