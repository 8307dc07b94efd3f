"""In which order the peers of a round take their turns: it rotates and turns round, so that whatever drifts drifts for all."""


def order(names, number):
    turns, start = divmod(number - 1, len(names))
    rotated = names[start:] + names[:start]
    return rotated[::-1] if turns % 2 else rotated
