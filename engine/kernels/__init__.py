"""Operations written twice, so that one can see what a kernel saves: the plain way and the way that
stays in the processor's cache. Both give the same output, neither needs a compiler.

`attention` builds the matrix of all scores or goes through it in tiles, `fusion` makes several
passes over memory or one, `traffic` computes the bytes that each moves, `memory` measures what each
allocates. The engine's own forward is `engine.model.paged`; these are for looking at.
"""
