import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { z } from 'zod'

/** List elements that are validated in one turn of the event loop: about ten milliseconds. */
const stepElements = 500

/**
 * Validates a response. A long list of an object is validated in steps, so that other calls run in
 * between: 12,000 deletion records take 160 milliseconds.
 *
 * @throws ZodError if the value does not match the schema.
 */
export async function parseResponse(schema: z.ZodType, value: unknown): Promise<unknown> {
  const long = findLongList(schema, value)
  if (!long) return schema.parse(value)
  const { name, element, list } = long
  const elements: unknown[] = []
  for (let from = 0; from < list.length; from += stepElements) {
    elements.push(...z.array(element).parse(list.slice(from, from + stepElements)))
    await nextEventLoopTurn()
  }
  const rest = schema.parse({ ...Object(value), [name]: [] })
  return { ...Object(rest), [name]: elements }
}

function findLongList(schema: z.ZodType, value: unknown) {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null)
    return undefined
  for (const [name, list] of Object.entries(value)) {
    const field: unknown = schema.shape[name]
    if (field instanceof z.ZodArray && Array.isArray(list) && list.length > stepElements)
      // Elements of the public type have the same methods as those of the core.
      return { name, element: field.element as z.ZodType, list: list as readonly unknown[] }
  }
  return undefined
}
