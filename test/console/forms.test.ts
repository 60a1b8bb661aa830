import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allActions } from '../../src/actions/all-actions.ts'
import { toJsonSchema } from '../../src/actions/schemas/params-schema.ts'
import { attributesPatch } from '../../web/forms/attributes-patch.ts'
import { changedValues, followStored } from '../../web/forms/stored-values.ts'
import { formatAmount, parseAmountMicros } from '../../web/format/amount.ts'
import { formFieldsOf } from '../../web/playground/form/form-fields.ts'
import { parseParams } from '../../web/playground/form/parse-params.ts'

for (const { name, params, example } of allActions)
  test(`The form of ${name} has a control for each parameter and reproduces its example`, () => {
    const schema = toJsonSchema(params, 'input')
    const fields = formFieldsOf(schema)
    const names = Object.keys(schema.properties ?? {}).filter((property) => property !== 'images')
    assert.deepEqual(
      fields.map((field) => field.name),
      names,
    )
    const parameters = Object.entries(example.params).filter(([property]) => property !== 'images')
    const entries = parameters.map(([property, value]) => {
      const field = fields.find((candidate) => candidate.name === property)
      return [property, field?.kind.type === 'json' ? JSON.stringify(value) : value]
    })
    const parsed = parseParams(fields, Object.fromEntries(entries))
    assert.deepEqual(parsed.problems, {})
    const isDefault = (property: string, value: unknown) =>
      fields.some((field) => field.name === property && field.defaultValue === value)
    const expected = parameters.filter(([property, value]) => !isDefault(property, value))
    assert.deepEqual(parsed.params, Object.fromEntries(expected))
  })

test('A form reports an empty required field and a JSON field without valid JSON', () => {
  const schema = {
    type: 'object',
    properties: { subjectId: { type: 'string' }, attributes: { type: 'object' } },
    required: ['subjectId'],
  }
  const { problems } = parseParams(formFieldsOf(schema), { attributes: '{no' })
  assert.deepEqual(Object.keys(problems), ['subjectId', 'attributes'])
})

test('An amount is formatted and parsed exactly, to one micro-unit', () => {
  const micros = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n })
  fc.assert(
    fc.property(micros, (amount) => parseAmountMicros(formatAmount(amount)) === String(amount)),
  )
  assert.equal(formatAmount('1500000'), '1.50')
  assert.equal(formatAmount('-2500'), '−0.0025')
  assert.equal(parseAmountMicros('12.5'), '12500000')
  for (const text of ['', 'x', '1.2345678', '1e3', '--1'])
    assert.equal(parseAmountMicros(text), undefined)
})

test('A form sends the fields that differ from those with which it was opened', () => {
  const opened = { name: 'door', burst: '' as number | string, hours: 24, permissions: ['a', 'b'] }
  const values = { name: ' door ', burst: 7, hours: 24, permissions: ['b', 'a'] }
  assert.deepEqual(changedValues(opened, values), { burst: 7 })
  assert.deepEqual(changedValues(opened, opened), {})
  const price: { amount: number | string } = { amount: 0 }
  assert.deepEqual(changedValues(price, { amount: '' }), { amount: '' })
})

test('A form takes new stored values, except into the fields that the user has changed', () => {
  const opened = { name: 'door', threshold: 0.9, expiry: null, events: ['a', 'b'], groups: ['x'] }
  const values = { ...opened, threshold: 0.8, events: ['b', 'c'] }
  const stored = { ...opened, name: 'gate', threshold: 0.7, events: ['a', 'd'], groups: [] }
  assert.deepEqual(followStored(opened, values, stored), {
    name: 'gate',
    threshold: 0.8,
    expiry: null,
    events: ['d', 'c'],
    groups: [],
  })
  const saved = { ...opened, name: 'gate' }
  assert.equal(followStored(opened, { ...opened, name: 'gate ' }, saved).name, 'gate')
})

test('A patch of attributes removes names at every level, and contains only differences', () => {
  const before = {
    address: { street: 'Main 1', city: 'Bern', geo: { lat: 1, lon: 2 } },
    note: 'x',
    list: [1, { a: 1 }],
    kept: { deep: true },
  }
  const after = {
    kept: { deep: true },
    address: { street: 'Main 1', geo: { lat: 1 }, floor: 2 },
    list: [{ b: 1 }],
    note: { text: 'y' },
    empty: {},
  }
  assert.deepEqual(attributesPatch(before, after), {
    address: { city: null, geo: { lon: null }, floor: 2 },
    note: { text: 'y' },
    list: [{ b: 1 }],
    empty: {},
  })
  assert.equal(attributesPatch(before, structuredClone(before)), undefined)
})

test('A patch of attributes leads to the object of the form, whatever was stored', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const plain = { noNullPrototype: true }
  const leaf = fc.oneof(fc.integer(), fc.array(fc.integer()))
  const inner = fc.dictionary(name, fc.oneof(leaf, fc.dictionary(name, leaf, plain)), plain)
  const attributes = fc.dictionary(name, fc.oneof(leaf, inner), plain)
  fc.assert(
    fc.property(attributes, attributes, (before, after) => {
      const patch = attributesPatch(before, after) ?? {}
      assert.deepEqual(mergePatch(before, patch), after)
    }),
  )
})

/** Applies a patch as RFC 7396 describes it. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target)
  const merged: Record<string, unknown> = isObject ? { ...target } : {}
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], value)
  return merged
}
