"""A window for operators, since the bpy module has none: feeds them events, and keeps what they report."""

from types import SimpleNamespace

import bpy

from cairn.addon.ui import operators
from cairn.addon.ui.operators import CAIRN_OT_bake


def _of_plain_class(base, own):
    """An instance of a class with these methods; those that name their class by ``super()`` get the base's."""
    own.pop("invoke", None)
    return type("Operator", (base,), own)()


class Harness:
    """Plays the window: feeds events to an operator, and keeps what it reported."""

    def __init__(self, scene, operator=CAIRN_OT_bake, **properties):
        self.reports = []
        self.timers = []
        self.status = None
        manager = bpy.context.window_manager
        self.context = SimpleNamespace(
            scene=scene,
            window=SimpleNamespace(screen=SimpleNamespace(areas=[])),
            screen=SimpleNamespace(is_animation_playing=False),
            workspace=SimpleNamespace(status_text_set=self._set_status),
            window_manager=SimpleNamespace(
                cairn=manager.cairn,
                windows=[],
                event_timer_add=self._add_timer,
                event_timer_remove=self.timers.remove,
                modal_handler_add=lambda operator: True,
            ),
        )
        own = {name: value for name, value in vars(operator).items() if callable(value) or name in {"_task", "_hint"}}
        # the first base is the one of Cairn's, the other Blender's
        self.operator = _of_plain_class(operator.__bases__[0], own)
        vars(self.operator).update(properties)
        self.operator.report = lambda level, text: self.reports.append((level, text))

    def _set_status(self, text):
        self.status = text

    def _add_timer(self, interval, window):
        self.timers.append(object())
        return self.timers[-1]

    def begin(self, monkeypatch):
        monkeypatch.setattr(operators, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
        assert self.operator.invoke(self.context, None) == {"RUNNING_MODAL"}
        monkeypatch.undo()

    def feed(self, kind, value="PRESS", ctrl=False, alt=False, place=(0, 0)):
        held = {"ctrl": ctrl, "shift": False, "alt": alt}
        event = SimpleNamespace(type=kind, value=value, mouse_x=place[0], mouse_y=place[1], **held)
        return self.operator.modal(self.context, event)

    def tick_until(self, done):
        """Feed timer events until ``done`` is true of the last answer."""
        for _ in range(2000):
            answer = self.feed("TIMER", "NOTHING")
            if done(answer):
                return answer
        raise AssertionError("the operator never came to an end")

    def run(self):
        return self.tick_until(lambda answer: answer != {"RUNNING_MODAL"})

    def assert_cleaned_up(self):
        assert operators.running is None
        assert self.timers == []
        assert self.status is None
