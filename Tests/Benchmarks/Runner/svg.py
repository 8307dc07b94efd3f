"""The few shapes of a chart. The grey is such that it can be read on white and on black."""

from xml.sax.saxutils import escape

TEXT = "#727a85"
FONT = "-apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"


def text(x, y, words, size=12, anchor="start", weight="normal"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{TEXT}">{escape(words)}</text>'
    )


def bar(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" rx="2" fill="{colour}"/>'


def cut(x, y, height):
    """Two strokes through a bar that goes on."""
    stroke = 'stroke="#ffffff" stroke-width="2"'
    return "".join(
        f'<path d="M{at:.1f} {y + height} l4 -{height}" {stroke}/>' for at in (x, x + 4)
    )


def line(x1, y1, x2, y2, colour=TEXT, width=1, dashes=""):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{dashed}/>'
    )


def document(width, height, title, shapes):
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}" role="img">',
            f"<title>{escape(title)}</title>",
            *shapes,
            "</svg>\n",
        ]
    )
