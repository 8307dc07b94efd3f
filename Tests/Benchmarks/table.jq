# Records {figure, peer, round, value} to a Markdown table.

def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def rounded: if . < 100 then . * 100 | round / 100 else round end;
def values($peer): map(select(.peer == $peer)) | sort_by(.round) | map(.value);
def middle($peer): values($peer) | if . == [] then "" else median | rounded end;
def ratio($peer):
    [values("ours"), values($peer)]
    | if .[1] == [] then "" else transpose | map(.[0] / .[1]) | median | rounded end;
def row: "| " + (map(tostring) | join(" | ")) + " |";

(["", "ours", "C libuv", "SwiftNIO", "ours ÷ C", "ours ÷ SwiftNIO"] | row),
"|---|--:|--:|--:|--:|--:|",
(group_by(.figure)[]
    | [.[0].figure, middle("ours"), middle("C"), middle("SwiftNIO"), ratio("C"), ratio("SwiftNIO")] | row)
