import type { z } from 'zod'

/** Parses a JSON text by a schema. Returns undefined for other text, such as one that was cut off. */
export function parseJsonText<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
