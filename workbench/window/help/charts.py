"""Help pages about each kind of chart, made from the registry of kinds."""

from __future__ import annotations

from workbench.charts.kinds import chart_kinds
from workbench.window.help.book import HelpPage
from workbench.window.help.texts import escaped, link

CHAPTER = "Charts"


def pages(overview: str) -> list[HelpPage]:
    """Return the page about reading any chart, then one for each kind.

    overview  the page written by hand
    """
    kinds = chart_kinds()
    rows = "\n".join(
        f"| {link(each.title, f'chart/{each.key}')} | {escaped(each.tip)} |" for each in kinds
    )
    table = f"| chart | shows |\n|---|---|\n{rows}"
    return [
        HelpPage("charts", CHAPTER, "How to read a chart", f"{overview}\n\n{table}", "sweep"),
        *(
            HelpPage(
                f"chart/{each.key}",
                CHAPTER,
                each.title,
                f"*{escaped(each.tip)}.*\n\n{escaped(each.reading)}\n\n"
                f"What all charts have in common: {link('How to read a chart', 'charts')}.",
            )
            for each in kinds
        ),
    ]
