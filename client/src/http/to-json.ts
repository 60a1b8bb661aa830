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

function requireFinite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new RangeError(`${name} is ${value}`)
}
