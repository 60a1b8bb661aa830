import type { ProjectRow } from './schema.ts'

/** The columns of a project that are switches, 1 or 0. */
export const switchNames: readonly (keyof ProjectRow)[] = []
