import type { RandomSource } from '../../src/lib/random/seeded-random.ts'

type Holder = Record<string, unknown> | unknown[]
type Place = { readonly holder: Holder; readonly key: string }

/** Bounds the cost of one mutation. */
const placesMax = 5000

/**
 * Changes one value of a JSON text: another type, a missing or additional field, a copy of another
 * value, one more level. Bytes after the first NUL are kept.
 *
 * @returns undefined if the input is not JSON.
 */
export function mutateJson(input: Uint8Array, random: RandomSource): Uint8Array | undefined {
  const first = input[0]
  if (first !== 0x7b && first !== 0x5b) return undefined
  const nul = input.indexOf(0)
  const end = nul < 0 ? input.length : nul
  const root = parse(Buffer.from(input.subarray(0, end)).toString())
  if (typeof root !== 'object' || root === null) return undefined
  const wrapper: Record<string, unknown> = { root }
  const places = placesOf(wrapper)
  for (let change = 0; change <= random() * 2; change++) changeOne(places, random)
  const text = JSON.stringify(wrapper['root'], undefined, random() < 0.1 ? 1 : undefined)
  return Buffer.concat([Buffer.from(text ?? 'null'), input.subarray(end)])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function placesOf(wrapper: Holder): Place[] {
  const places: Place[] = []
  const pending: Holder[] = [wrapper]
  for (let holder = pending.pop(); holder && places.length < placesMax; holder = pending.pop())
    for (const [key, value] of Object.entries(holder)) {
      places.push({ holder, key })
      if (typeof value === 'object' && value !== null) pending.push(value as Holder)
    }
  return places
}

const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  1e9,
  2 ** 53,
  -(2 ** 31),
  '',
  'a',
  '\0',
  '\ud800',
  '__proto__',
  'constructor',
  '1e400',
  'A'.repeat(300),
  [],
  {},
  [[]],
  [1, 2, 3],
  { a: 1 },
]

function changeOne(places: readonly Place[], random: RandomSource): void {
  const pick = <T>(items: readonly T[]): T | undefined =>
    items[Math.floor(random() * items.length * 0.999)]
  const place = pick(places)
  const other = pick(places)
  if (!place || !other) return
  // The types of both are records: an array is changed by its indexes.
  const holder = place.holder as Record<string, unknown>
  const copy = structuredClone((other.holder as Record<string, unknown>)[other.key])
  const change = Math.floor(random() * 6)
  if (change === 0) holder[place.key] = structuredClone(pick(values))
  else if (change === 1) holder[place.key] = copy
  else if (change === 2) holder[place.key] = [holder[place.key]]
  else if (change === 3 && Array.isArray(holder)) holder.push(copy)
  else if (change === 3) holder[String(pick(values))] = copy
  else if (change === 4 && Array.isArray(holder)) holder.splice(Number(place.key), 1)
  else if (change === 4) delete holder[place.key]
  else holder[place.key] = String(holder[place.key])
}
