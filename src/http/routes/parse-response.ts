import { z } from 'zod'
import { ownTurn } from '../../lib/limits/own-turn.ts'

/** Values that are validated in one turn of the event loop: about four milliseconds. */
const stepValues = 2000

/**
 * Validates a response. A long list of an object is validated in steps, so that other calls run in
 * between: 12,000 deletion records, or 200 subjects with all their faces, take 160 milliseconds.
 *
 * @throws ZodError if the value does not match the schema.
 */
export async function parseResponse(schema: z.ZodType, value: unknown): Promise<unknown> {
  const long = findLongList(schema, value)
  if (!long) return schema.parse(value)
  const { name, element, list, stepElements } = long
  const elements: unknown[] = []
  for (let from = 0; from < list.length; from += stepElements) {
    elements.push(...z.array(element).parse(list.slice(from, from + stepElements)))
    await ownTurn()
  }
  const rest = schema.parse({ ...Object(value), [name]: [] })
  return { ...Object(rest), [name]: elements }
}

function findLongList(schema: z.ZodType, value: unknown) {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null)
    return undefined
  for (const [name, list] of Object.entries(value)) {
    const field: unknown = schema.shape[name]
    if (!(field instanceof z.ZodArray) || !Array.isArray(list)) continue
    const stepElements = Math.ceil((list.length * stepValues) / countValues(list))
    // Elements of the public type have the same methods as those of the core.
    const element = field.element as z.ZodType
    if (stepElements < list.length)
      return { name, element, list: list as readonly unknown[], stepElements }
  }
  return undefined
}

/** Counts a value and all values in it. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((count, inner) => count + countValues(inner), 1)
}
