import { invalidArgument } from '../facegate-error.ts'

/** @throws FacegateError INVALID_ARGUMENT if a value has no JSON, such as NaN, which would become null. */
export function toJson(message: object): string {
  try {
    return JSON.stringify(message, requireFinite)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalidArgument(`the parameters are not JSON: ${reason}`, cause)
  }
}

function requireFinite(this: Record<string, unknown>, name: string, value: unknown): unknown {
  // A Date is its text here, and null if it is invalid.
  const given = value ?? this[name]
  const hasJson = typeof given === 'number' ? Number.isFinite(given) : !(given instanceof Date)
  if (hasJson) return value
  throw new RangeError(`${name} is ${String(given)}`)
}
