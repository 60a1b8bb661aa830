import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allActions } from '../../src/actions/all-actions.ts'
import { toJsonSchema } from '../../src/actions/schemas/json-schema.ts'
import { formatAmount, parseAmountMicros } from '../../web/format/amount.ts'
import { formFieldsOf } from '../../web/playground/form-fields.ts'
import { parseParams } from '../../web/playground/parse-params.ts'

for (const { name, params, example } of allActions)
  test(`the form of ${name} has a control for each parameter and says its example again`, () => {
    const schema = toJsonSchema(params, 'input')
    const fields = formFieldsOf(schema)
    const names = Object.keys(schema.properties ?? {}).filter((property) => property !== 'images')
    assert.deepEqual(
      fields.map((field) => field.name),
      names,
    )
    const said = Object.entries(example.params).filter(([property]) => property !== 'images')
    const entries = said.map(([property, value]) => {
      const field = fields.find((candidate) => candidate.name === property)
      return [property, field?.kind.type === 'json' ? JSON.stringify(value) : value]
    })
    const read = parseParams(fields, Object.fromEntries(entries))
    assert.deepEqual(read.problems, {})
    const isDefault = (property: string, value: unknown) =>
      fields.some((field) => field.name === property && field.defaultValue === value)
    const sent = said.filter(([property, value]) => !isDefault(property, value))
    assert.deepEqual(read.params, Object.fromEntries(sent))
  })

test('a form is not sent while a needed field is empty or a JSON field holds none', () => {
  const schema = {
    type: 'object',
    properties: { subjectId: { type: 'string' }, attributes: { type: 'object' } },
    required: ['subjectId'],
  }
  const { problems } = parseParams(formFieldsOf(schema), { attributes: '{no' })
  assert.deepEqual(Object.keys(problems), ['subjectId', 'attributes'])
})

test('an amount is shown and read exactly, to the last micro-unit', () => {
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
