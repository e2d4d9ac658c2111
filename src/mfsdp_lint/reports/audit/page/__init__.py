"""The audit as one page that stands by itself: recipes as data, findings and rules as text, a script that shows them.

recipes ──► sides.py (tables.py, cells.py) ──► data ─┐
findings ──► findings.py ──► templates ──────────────┴► render.py ──► page
"""
