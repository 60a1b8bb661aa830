/** What a pickle may hold: plain values, and notes of what it would have called. */
export type PickledValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | PickledList
  | PickledTuple
  | PickledDict
  | PickledGlobal
  | PickledCall
  | PickledReference

export type PickledList = { readonly kind: 'list'; readonly items: PickledValue[] }
export type PickledTuple = { readonly kind: 'tuple'; readonly items: readonly PickledValue[] }
/** Also an `OrderedDict`; its keys are strings or numbers. */
export type PickledDict = ReadonlyMap<PickledValue, PickledValue>
/** A name of a module, as `torch.FloatStorage`. */
export type PickledGlobal = { readonly kind: 'global'; readonly name: string }
export type PickledCall = {
  readonly kind: 'call'
  readonly callee: PickledGlobal
  readonly args: PickledTuple
}
/** What lies outside of the pickle: for torch a storage of numbers. */
export type PickledReference = { readonly kind: 'reference'; readonly id: PickledValue }

/** Whether a value is of one of the kinds that carry a name. */
export function isKind<Kind extends TaggedValue['kind']>(
  value: PickledValue | undefined,
  kind: Kind,
): value is Extract<TaggedValue, { readonly kind: Kind }> {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind
}

type TaggedValue = Exclude<Extract<PickledValue, object>, PickledDict>
