"""What the sub-panels of *Physics > Rigid Body* have in common: when they are there, and the column they draw in."""

from . import operators
from .panels import InPhysics, lay_out


class OfBody(InPhysics):
    """A closed sub-panel of a rigid body's own panel."""

    bl_parent_id = "PHYSICS_PT_rigid_body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.rigid_body is not None

    def column(self, context, *, of_active=True):
        """A column for settings, which rest while something runs; grey for passive bodies if active ones have them."""
        lay_out(self.layout, context)
        column = self.layout.column()
        column.enabled = operators.running is None
        column.active = not of_active or context.object.rigid_body.type == "ACTIVE"
        return column
