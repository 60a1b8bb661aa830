import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openExactSearch } from '../memory/exact-search.ts'
import { createSearchMemory, openSharedMemory } from '../scan/shared-memory.ts'
import { openTemplateTable } from '../table/template-table.ts'
import { countFaces, openPackedRows, packRows, unpackSections } from './packed-rows.ts'
import type { LoadedTemplate } from './packed-rows.ts'

const log = { info: () => {}, error: () => {} }
const dimensionsOf: Readonly<Record<string, number>> = { small: 7, large: 32 }

/** Templates of two models, with and without groups and expiry. Some ids are not UUIDs. */
function createTemplates(count: number): LoadedTemplate[] {
  return Array.from({ length: count }, (_, index) => {
    const modelId = index % 3 === 0 ? 'small' : 'large'
    const length = dimensionsOf[modelId] ?? 0
    return {
      faces: (index % 4) + 1,
      ...(index % 4 === 0 && { faceId: index % 5 === 0 ? `face ${index}` : randomUUID() }),
      subjectId: index % 7 === 0 ? `subject ${index}` : randomUUID(),
      modelId,
      groups: index % 2 === 0 ? [] : ['staff', `group ${index % 4}`],
      expiresAtMs: index % 11 === 0 ? 1e12 + index : undefined,
      density: -index / count,
      vector: Float32Array.from({ length }, (__, axis) => Math.sin(index * 31 + axis * 7)),
    }
  })
}

const copyOf = (templates: readonly LoadedTemplate[]) =>
  templates.map((template) => ({ ...template, vector: template.vector.slice() }))

test('An index that is loaded from packed rows returns the same as one with the same changes', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const templates = createTemplates(700)
  const changes = copyOf(templates).map(({ subjectId, ...template }) => ({
    sequence: 1,
    subjectId,
    templates: [template],
  }))
  await search.apply('applied', changes)
  const parts = [templates.slice(0, 300), templates.slice(300)].map((part) =>
    packRows(copyOf(part)),
  )
  // A subject that is loaded again replaces the earlier row.
  const again = packRows(copyOf(templates.slice(0, 20)))
  await search.load('loaded', parts, { sequence: 1, subjectCount: 700 })
  await search.load('loaded', [again], { sequence: 1, subjectCount: 700 })
  for (const modelId of ['small', 'large']) {
    assert.deepEqual(search.size('loaded', modelId), search.size('applied', modelId))
    for (const groups of [undefined, ['staff'], ['group 1', 'group 3'], ['none']])
      for (const probe of templates
        .filter((template) => template.modelId === modelId)
        .slice(0, 3)) {
        const options = { limit: 200, modelId, groups }
        const loaded = await search.search('loaded', probe, options)
        assert.deepEqual(loaded, await search.search('applied', probe, options))
        assert.equal(loaded.length > 0, groups?.[0] !== 'none')
      }
  }
  await search.apply('loaded', [
    { sequence: 2, subjectId: templates[0]?.subjectId ?? '', templates: [] },
  ])
  assert.equal(search.size('loaded').rows, 699)
})

/** Opens a table in which rows were freed, so that the next rows are not successive. */
function openUsedTable(earlier: readonly LoadedTemplate[]) {
  const sharedMemory = openSharedMemory(createSearchMemory())
  const table = openTemplateTable(sharedMemory, 32)
  for (const template of copyOf(earlier)) table.put(template)
  for (const { subjectId } of earlier.slice(10, 20)) table.remove(subjectId)
  return { table, memory: () => new Uint8Array(sharedMemory.memory.buffer) }
}

test('A table that is loaded contains the same bytes as one with the same templates put singly', () => {
  const templates = createTemplates(900).filter(({ modelId }) => modelId === 'large')
  // The second one of a subject replaces the first.
  const rows = [...templates, ...templates.slice(0, 5)]
  const earlier = createTemplates(90).filter(({ modelId }) => modelId === 'large')
  const put = openUsedTable(earlier)
  for (const template of copyOf(rows)) put.table.put(template)
  const loaded = openUsedTable(earlier)
  const packed = packRows(copyOf(rows))
  for (const section of unpackSections(packed)) loaded.table.load(section, packed.header.groupSets)
  assert.deepEqual(loaded.memory(), put.memory())
  assert.equal(loaded.table.size(), put.table.size())
  assert.equal(loaded.table.faces(), put.table.faces())
  for (let row = 0; row < loaded.table.size(); row++)
    assert.deepEqual(loaded.table.read(row), put.table.read(row))
})

test('Packed rows are read from their bytes alone, and bytes of another length are rejected', () => {
  const templates = createTemplates(20)
  const packed = packRows(templates)
  assert.ok(
    templates.every(({ vector }) => vector.every((value) => value === 0)),
    'zeroed',
  )
  const opened = openPackedRows(packed.bytes.slice(0))
  assert.deepEqual([opened.header, countFaces(opened)], [packed.header, 50])
  for (const bytes of [
    packed.bytes.slice(0, -8),
    packed.bytes.slice(0).transfer(packed.bytes.byteLength + 8),
  ])
    assert.throws(() => openPackedRows(bytes), /the stated length/u)
})

test('Templates with invalid values or of different lengths are not packed', () => {
  const [first, second] = createTemplates(2)
  assert.ok(first && second)
  const invalid = { ...first, vector: Float32Array.of(Number.NaN) }
  assert.throws(() => packRows([invalid]))
  const other = { ...first, vector: new Float32Array(8) }
  assert.throws(() => packRows([first, other]), /the same dimensions/u)
})
