"""x."""


def refresh():
    pass
