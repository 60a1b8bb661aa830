import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinLicence, builtinPack } from './builtin-pack.ts'
import type { BuiltinModel } from './builtin-model.ts'
import { sizeOf } from '../convert/onnx/layout.ts'

const entries: readonly BuiltinModel[] = Object.values(builtinPack.models)
const { face_expression: expression, emotion } = builtinPack.models

test('every model is listed under its id and has a unique file name', () => {
  assert.deepEqual(
    entries.map(({ id }) => id),
    Object.keys(builtinPack.models),
  )
  assert.equal(new Set(entries.map(({ artifact }) => artifact.file)).size, entries.length)
})

test('every checksum is a sha256', () => {
  for (const { source, artifact, int8 } of entries)
    for (const { sha256 } of [
      source.manifest,
      source.weights,
      int8?.artifact ?? artifact,
      artifact,
    ])
      assert.match(sha256, /^[0-9a-f]{64}$/u)
})

test('every output has golden values and a tolerance below 1 % of its mean', () => {
  for (const { outputs, golden } of entries) {
    assert.deepEqual(outputs.map(({ name }) => name).toSorted(), Object.keys(golden).toSorted())
    for (const { name, shape } of outputs) {
      const { samples = [], meanAbsolute = 0, tolerance = 0 } = golden[name] ?? {}
      assert.equal(samples.length, Math.min(sizeOf(shape), 16))
      assert.ok(tolerance > 0 && tolerance < meanAbsolute / 100, name)
    }
  }
})

test('every role, order of colours and conversion is known', () => {
  const roles = new Set(['detector', 'landmarks', 'recognizer', 'attributes', 'liveness'])
  const members = {
    'tfjs-graph': new Set(['from', 'outputs', 'isAnySize']),
    'face-api': new Set(['from', 'network']),
  }
  for (const entry of entries) {
    const { conversion } = entry.source
    assert.ok(entry.roles.length > 0 && new Set(entry.roles).isSubsetOf(roles), entry.id)
    assert.ok(['RGB', 'BGR', 'grey'].includes(entry.input.colourOrder), entry.id)
    assert.ok(new Set(Object.keys(conversion)).isSubsetOf(members[conversion.from]), entry.id)
    if (conversion.from === 'face-api') assert.equal(conversion.network, entry.id)
  }
})

test('every channel has a mean', () => {
  for (const { input } of entries)
    assert.equal(input.mean.length, input.colourOrder === 'grey' ? 1 : 3)
})

test('both expression networks have the same seven labels', () => {
  assert.deepEqual(
    new Set<string>(expression.constants.labels),
    new Set<string>(emotion.constants.labels),
  )
  assert.equal(expression.constants.labels.length, 7)
})

test('every model states its origin, licence and training data', () => {
  for (const entry of entries)
    for (const statement of [builtinLicence(entry), ...Object.values(entry.provenance)])
      assert.ok(statement.length > 5)
})
