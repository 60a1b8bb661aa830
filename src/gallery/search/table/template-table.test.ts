import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSearchMemory, openSharedMemory } from '../scan/shared-memory.ts'
import { blockCapacity, blockIndex } from './row-store.ts'
import { jobBytes, jobOffset } from '../scan/scan-job.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import { rankTable } from '../scored-subject.ts'
import { openTemplateTable } from './template-table.ts'
import { openScanPool } from '../memory/scan-pool.ts'

const dimensions = 20

function openTable() {
  const sharedMemory = openSharedMemory(createSearchMemory())
  return { sharedMemory, table: openTemplateTable(sharedMemory, dimensions) }
}

function template(number: number) {
  const vector = Float32Array.from(
    { length: dimensions },
    (_, index) => Math.sin(number + index) + 2,
  )
  const id = String(number)
  return { subjectId: id, faces: 2, groups: ['all'], vector, density: number + 0.5 }
}

/** Returns all memory after the job. */
function bytesOf({ memory }: ReturnType<typeof openSharedMemory>): Uint8Array {
  return new Uint8Array(memory.buffer).subarray(jobOffset + jobBytes)
}

test('Blocks follow each other without a gap, with 64 to 16,384 rows', () => {
  let first = 0
  for (let index = 0; index < 14; index++) {
    assert.equal(blockIndex(first), index)
    first += blockCapacity(index)
    assert.equal(blockIndex(first - 1), index)
  }
  assert.equal(blockCapacity(0), 64)
  assert.equal(blockCapacity(13), 16_384)
})

test('A removed row has zero codes, metadata, vector and density, and is reused', () => {
  const { sharedMemory, table } = openTable()
  table.put(template(1))
  const before = bytesOf(sharedMemory).slice()
  table.put(template(2))
  table.remove('2')
  assert.deepEqual(bytesOf(sharedMemory), before)
  table.remove('1')
  table.remove('1')
  assert.ok(bytesOf(sharedMemory).every((byte) => byte === 0))
  const [block] = table.blocks
  assert.ok(block)
  assert.ok(block.vectors.every((value) => value === 0))
  assert.ok(block.densities.every((value) => value === 0))
  assert.deepEqual([block.owners.read(0), block.owners.read(1)], [undefined, undefined])
  assert.deepEqual([table.size(), table.faces()], [0, 0])
  for (const number of [3, 4]) table.put(template(number))
  assert.equal(table.rowsUsed(block), 2)
})

test('A replaced row contains nothing of its former content', () => {
  const expected = openTable()
  expected.table.put(template(2))
  const replaced = openTable()
  replaced.table.put({ ...template(7), subjectId: '2', groups: ['other'] })
  replaced.table.put(template(2))
  assert.deepEqual(bytesOf(replaced.sharedMemory), bytesOf(expected.sharedMemory))
})

test('A cleared table leaves zeros, and the next table reuses its memory', () => {
  const { sharedMemory, table } = openTable()
  for (let number = 0; number < 1_000; number++) table.put(template(number))
  const vectors = table.blocks.map((block) => block.vectors)
  const bytesUsed = sharedMemory.bytesUsed()
  assert.equal([...table.clear()].length, 5)
  assert.ok(bytesOf(sharedMemory).every((byte) => byte === 0))
  assert.ok(vectors.every((values) => values.every((value) => value === 0)))
  assert.equal(sharedMemory.bytesUsed(), 0)
  const size = sharedMemory.memory.buffer.byteLength
  const next = openTemplateTable(sharedMemory, dimensions)
  for (let number = 0; number < 1_000; number++) next.put(template(number))
  assert.equal(sharedMemory.bytesUsed(), bytesUsed)
  assert.equal(sharedMemory.memory.buffer.byteLength, size)
})

test('A search leaves nothing of its probe in memory', () => {
  const { sharedMemory, table } = openTable()
  const scanPool = openScanPool(sharedMemory, openScanKernel(sharedMemory.memory), 0)
  table.put(template(1))
  const before = bytesOf(sharedMemory).slice()
  assert.equal(rankTable(table, scanPool, template(5), { limit: 1 })[0]?.subjectId, '1')
  assert.deepEqual(bytesOf(sharedMemory).subarray(0, before.length), before)
  assert.ok(
    bytesOf(sharedMemory)
      .subarray(before.length)
      .every((byte) => byte === 0),
  )
})
