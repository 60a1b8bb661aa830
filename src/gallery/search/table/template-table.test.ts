import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSearchMemory, openSharedMemory } from '../scan/shared-memory.ts'
import { blockCapacity, blockIndex } from './row-block.ts'
import { jobBytes, jobOffset } from '../scan/scan-job.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import { rankTable } from '../memory/rank-table.ts'
import { openTemplateTable } from './template-table.ts'
import { openScanPool } from '../memory/scan-pool.ts'

const dimensions = 20

function open() {
  const arena = openSharedMemory(createSearchMemory())
  return { arena, table: openTemplateTable(arena, dimensions) }
}

function template(number: number) {
  const vector = Float32Array.from({ length: dimensions }, (_, at) => Math.sin(number + at) + 2)
  const id = String(number)
  return { templateId: id, subjectId: id, groups: ['all'], vector, density: number + 0.5 }
}

/** Everything that the arena has ever handed out, past the job. */
function memoryOf({ memory }: ReturnType<typeof openSharedMemory>): Uint8Array {
  return new Uint8Array(memory.buffer).subarray(jobOffset + jobBytes)
}

test('blocks follow each other without a gap, from 64 rows to 16,384', () => {
  let first = 0
  for (let index = 0; index < 14; index++) {
    assert.equal(blockIndex(first), index)
    first += blockCapacity(index)
    assert.equal(blockIndex(first - 1), index)
  }
  assert.equal(blockCapacity(0), 64)
  assert.equal(blockCapacity(13), 16_384)
})

test('a removed row is zero in codes, facts, vector and density, and is used again', () => {
  const { arena, table } = open()
  table.put(template(1))
  const before = memoryOf(arena).slice()
  table.put(template(2))
  table.remove('2')
  assert.deepEqual(memoryOf(arena), before)
  table.remove('1')
  table.remove('1')
  assert.ok(memoryOf(arena).every((byte) => byte === 0))
  const [block] = table.blocks
  assert.ok(block)
  assert.ok(block.vectors.every((value) => value === 0))
  assert.ok(block.densities.every((value) => value === 0))
  assert.ok(block.owners.every((owner) => owner === undefined))
  assert.equal(table.size(), 0)
  for (const number of [3, 4]) table.put(template(number))
  assert.equal(table.rowsUsed(block), 2)
})

test('a replaced row keeps nothing of what it held', () => {
  const { arena, table } = open()
  table.put(template(2))
  const expected = memoryOf(arena).slice()
  const { arena: other, table: table2 } = open()
  table2.put({ ...template(7), templateId: '2', groups: ['other'] })
  table2.put(template(2))
  assert.deepEqual(memoryOf(other), expected)
})

test('a cleared table leaves zeros behind, and its memory to the next one', () => {
  const { arena, table } = open()
  for (let number = 0; number < 1_000; number++) table.put(template(number))
  const { blocks } = table
  const vectors = blocks.map((block) => block.vectors)
  const bytes = arena.bytesUsed()
  assert.equal([...table.clear()].length, 5)
  assert.ok(memoryOf(arena).every((byte) => byte === 0))
  assert.ok(vectors.every((part) => part.every((value) => value === 0)))
  assert.equal(arena.bytesUsed(), 0)
  const size = arena.memory.buffer.byteLength
  const next = openTemplateTable(arena, dimensions)
  for (let number = 0; number < 1_000; number++) next.put(template(number))
  assert.equal(arena.bytesUsed(), bytes)
  assert.equal(arena.memory.buffer.byteLength, size)
})

test('a search leaves nothing of its probe in memory', () => {
  const { arena, table } = open()
  const team = openScanPool(arena, openScanKernel(arena.memory), 0)
  table.put(template(1))
  const before = memoryOf(arena).slice()
  assert.equal(rankTable(table, team, template(5), { limit: 1 })[0]?.subjectId, '1')
  assert.deepEqual(memoryOf(arena).subarray(0, before.length), before)
  assert.ok(
    memoryOf(arena)
      .subarray(before.length)
      .every((byte) => byte === 0),
  )
})
