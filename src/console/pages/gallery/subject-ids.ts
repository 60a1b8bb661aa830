import { z } from 'zod'
import { id } from '../../server/input.ts'

/** The most subjects of one request that changes groups, and of one import request. */
export const subjectChangesMax = 100
/** The most subjects that one request deletes: calls wait for its transaction. */
export const subjectDeletionsMax = 20
/** The most subjects of one query. Their ids must fit into the address of the request. */
export const subjectQueryMax = 200

/** A list of different subjects in a request body. */
export const subjectIdList = (max: number) =>
  z
    .array(id)
    .min(1)
    .max(max, `must be a list of 1 to ${max} subject ids`)
    .transform((ids) => [...new Set(ids.map((subjectId) => subjectId.toLowerCase()))])

/** The same in a query: ids separated by commas. */
export const subjectIdQuery = z
  .string()
  .regex(/^[0-9a-fA-F-]{36}(?:,[0-9a-fA-F-]{36})*$/u, 'must be subject ids, separated by commas')
  .transform((text) => [...new Set(text.toLowerCase().split(','))])
  .refine(
    (ids) => ids.length <= subjectQueryMax,
    `must contain at most ${subjectQueryMax} subject ids`,
  )
