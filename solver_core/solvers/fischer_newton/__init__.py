"""Fischer-Newton on contacts with polyhedral friction.

In: one island's rows. Out: its impulses, by damped Newton steps on Fischer's function, solved over the bodies or by
GMRES.
"""
