/** A value in a pickle: plain data, or the description of a call that was not executed. */
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
/** A name of a module, such as `torch.FloatStorage`. */
export type PickledGlobal = { readonly kind: 'global'; readonly name: string }
export type PickledCall = {
  readonly kind: 'call'
  readonly callee: PickledGlobal
  readonly args: PickledTuple
}
/** A reference to data outside of the pickle: in PyTorch, a storage of numbers. */
export type PickledReference = { readonly kind: 'reference'; readonly id: PickledValue }

/** Whether a value has the given `kind`. */
export function isKind<Kind extends TaggedValue['kind']>(
  value: PickledValue | undefined,
  kind: Kind,
): value is Extract<TaggedValue, { readonly kind: Kind }> {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind
}

type TaggedValue = Exclude<Extract<PickledValue, object>, PickledDict>
