import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { quantiseWithKernel } from '../../../../test/support/search/quantise-row.ts'
import { scoreSubject } from '../scored-subject.ts'
import { leadAxisCount } from '../scan/row-layout.ts'
import { jobBytes, jobOffset } from '../scan/scan-job.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import { createSearchMemory, leadsBytesMax, openSharedMemory } from '../scan/shared-memory.ts'
import { openScanPool } from '../memory/scan-pool.ts'
import { rankTable } from '../scored-subject.ts'
import { quantiseLeadProbe } from './lead.ts'
import { leadRowsMin, openTemplateTable } from './template-table.ts'

const values = fc.float({ min: -1, max: 1, noNaN: true })
/** Two vectors of the same length with values from denormal to very large, their axes and a density. */
const inputArbitrary = fc.integer({ min: leadAxisCount, max: 512 }).chain((length) => {
  const vector = fc
    .tuple(
      fc.array(values, { minLength: length, maxLength: length }),
      fc.integer({ min: -42, max: 15 }),
    )
    .map(([items, power]) => Float32Array.from(items, (value) => value * 10 ** power))
  const axes = fc
    .shuffledSubarray([...Array.from({ length }).keys()], {
      minLength: leadAxisCount,
      maxLength: leadAxisCount,
    })
    .map((numbers) => Uint16Array.from(numbers))
  return fc.tuple(vector, vector, axes, fc.double({ min: -10, max: 10, noNaN: true }))
})

/** Computes the lead bound in the order and precision of the kernel. */
function leadBound(
  probe: Float32Array,
  row: Float32Array,
  { axes, density }: { readonly axes: Uint16Array; readonly density: number },
): number {
  const [quantised] = quantiseWithKernel([{ vector: row, density, axes }])
  assert.ok(quantised?.lead)
  const { codes, scale, bias, rest } = quantised.lead
  const probeCodes = new Int16Array(leadAxisCount)
  const { gain, restReach, scaleReach } = quantiseLeadProbe(probe, axes, probeCodes)
  const dot = codes.reduce((sum, code, index) => sum + code * (probeCodes[index] ?? 0), 0)
  assert.ok(Math.abs(dot) < 2 ** 31)
  const round = Math.fround
  const product = round(round(round(dot) * scale) * gain)
  const reaches = round(round(rest * restReach) + round(scale * scaleReach))
  return round(product + round(bias + reaches))
}

test('The lead bound that the kernel computes is never below the true value', () => {
  fc.assert(
    fc.property(inputArbitrary, ([probe, row, axes, density]) => {
      let exact = -density / 2
      for (const [index, value] of row.entries())
        exact += 2 * (probe[index] ?? 0) * value - value ** 2
      const bound = leadBound(probe, row, { axes, density })
      assert.ok(bound >= exact, `${bound} < ${exact}`)
    }),
  )
})

test('For a row with nothing outside the lead axes, the bound exceeds the score by less than 4 %', () => {
  const axes = Uint16Array.from({ length: leadAxisCount }, (_, index) => index)
  const row = new Float32Array(256).map((_, index) =>
    index < leadAxisCount ? Math.sin(index * index) / 8 : 0,
  )
  const squared = row.reduce((sum, value) => sum + value * value, 0)
  const excess = leadBound(row, row, { axes, density: 0 }) - squared
  assert.ok(excess > 0 && excess < squared * 0.04, `${excess} of ${squared}`)
})

const dimensions = 192
const sequence = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
}

/** Returns a template whose first axes vary most, like principal components. */
function principal(random: () => number, size = 1, axesPerDecay = 12) {
  const vector = Float32Array.from(
    { length: dimensions },
    (_, axis) => random() * size * Math.exp(-axis / axesPerDecay),
  )
  return { vector, density: -Math.abs(random()) }
}

/** Opens a table of `rows` templates that has leads from `leadsFrom` rows on. */
function openFilledTable(leadsFrom: number, rows: number, axesPerDecay?: number) {
  const sharedMemory = openSharedMemory(createSearchMemory())
  const table = openTemplateTable(sharedMemory, dimensions, leadsFrom)
  const random = sequence(rows + 1)
  for (let row = 0; row < rows; row++) {
    const id = `00000000-0000-4000-8000-${row.toString(16).padStart(12, '0')}`
    const template = principal(random, 1, axesPerDecay)
    table.put({ subjectId: id, faces: 2, groups: [], ...template })
  }
  const scanPool = openScanPool(sharedMemory, openScanKernel(sharedMemory.memory), 0)
  return { sharedMemory, table, scanPool, random }
}

test('A table has leads from its 16,384th row on, and not if all axes vary equally', () => {
  assert.equal(leadRowsMin, 16_384)
  const before = openFilledTable(300, 299)
  assert.equal(before.table.leadAxes(), undefined)
  assert.ok(before.table.blocks.every(({ leads }) => leads === undefined))
  const { table } = openFilledTable(300, 300)
  assert.deepEqual([...(table.leadAxes() ?? [])], [...Array.from({ length: leadAxisCount }).keys()])
  assert.ok(table.blocks.every(({ leads }) => leads !== undefined))
  assert.equal(openFilledTable(300, 300, 1e9).table.leadAxes(), undefined)
})

test('New rows get no leads when the rest of the memory is kept for rows, and are found', () => {
  const { sharedMemory, table, scanPool, random } = openFilledTable(300, 300)
  const { hasRoomForLeads, bytesUsed } = sharedMemory
  assert.equal(hasRoomForLeads(leadsBytesMax - bytesUsed()), true)
  assert.equal(hasRoomForLeads(leadsBytesMax - bytesUsed() + 1), false)
  const full = { ...sharedMemory, hasRoomForLeads: () => false }
  const limited = openTemplateTable(full, dimensions, 300)
  const probe = principal(random)
  for (let row = 0; row < 600; row++) {
    const id = String(row)
    const template = row === 599 ? probe : principal(random)
    limited.put({ subjectId: id, faces: 2, groups: [], ...template })
  }
  const leads = limited.blocks.map((block) => block.leads !== undefined)
  assert.deepEqual(leads, [true, true, true, true, false])
  assert.equal(rankTable(limited, scanPool, probe, { limit: 1 })[0]?.subjectId, '599')
  assert.ok(table.blocks.every((block) => block.leads))
})

test('With leads, the ranking of adversarial templates is that of scoring all of them', () => {
  const change = fc.record({
    subject: fc.integer({ min: 0, max: 400 }),
    kind: fc.constantFrom('put', 'put', 'remove', 'duplicate', 'zero'),
    groups: fc.subarray(['a', 'b']),
    size: fc.constantFrom(1, 1, 1e-3, 1e3, 1e-20, 1e14),
    axesPerDecay: fc.constantFrom(12, 1e9),
  })
  const groupless: string[] = []
  const put = {
    subject: 0,
    kind: 'put',
    groups: groupless,
    size: 1,
    axesPerDecay: 12,
  } as const
  // Rounded to float64, the scores of several rows with this probe are equal.
  const large = { ...put, size: 1e14, axesPerDecay: 1e9 } as const
  const filter = fc.option(fc.subarray(['a', 'b']), { nil: undefined })
  const changes = fc.array(change, { maxLength: 300 })
  fc.assert(
    fc.property(changes, filter, fc.integer({ min: 1, max: 9 }), (steps, groups, limit) => {
      const { table, scanPool, random } = openFilledTable(200, 250)
      assert.ok(table.leadAxes())
      type Row = Parameters<typeof table.put>[0]
      const rows = new Map<string, Row>()
      for (const { first, capacity } of table.blocks)
        for (let row = first; row < first + capacity; row++) {
          const stored = row < 250 ? table.read(row) : undefined
          if (stored)
            rows.set(stored.subjectId, { ...stored, vector: stored.vector.slice(), groups: [] })
        }
      let last = principal(random)
      for (const { subject, kind, groups: own, size, axesPerDecay } of steps) {
        const subjectId = `00000000-0000-4000-8000-${subject.toString(16).padStart(12, '0')}`
        table.remove(subjectId)
        rows.delete(subjectId)
        if (kind === 'remove') continue
        if (kind === 'put') last = principal(random, size, axesPerDecay)
        const vector = kind === 'zero' ? new Float32Array(dimensions) : last.vector
        const row = { subjectId, faces: 2, groups: own, vector, density: last.density }
        rows.set(subjectId, row)
        table.put(row)
      }
      for (const probe of [principal(random), last, principal(random, 1e-20)]) {
        const expected = [...rows.values()]
          .filter((row) => !groups || groups.some((group) => row.groups.includes(group)))
          .map((row) => ({ ...scoreSubject(row.subjectId, probe, row), faceId: undefined }))
          .sort((a, b) => b.score - a.score || (a.subjectId < b.subjectId ? -1 : 1))
        assert.deepEqual(
          rankTable(table, scanPool, probe, { limit, groups }),
          expected.slice(0, limit),
        )
      }
    }),
    { numRuns: 40, examples: [[[put, put, put, put, put, large], undefined, 6]] },
  )
})

test('A lead is zeroed with its row, and all leads with their table', () => {
  const { sharedMemory, table } = openFilledTable(300, 400)
  const bytesOf = () => new Uint8Array(sharedMemory.memory.buffer).slice(jobOffset + jobBytes)
  const before = bytesOf()
  const id = 'ffffffff-0000-4000-8000-000000000000'
  table.put({ subjectId: id, faces: 2, groups: [], ...principal(sequence(7)) })
  table.remove(id)
  assert.deepEqual(bytesOf(), before)
  for (const _ of table.clear());
  assert.ok(bytesOf().every((byte) => byte === 0))
  assert.equal(sharedMemory.bytesUsed(), 0)
})

test('A template takes at most 450 bytes beside its float32 vector', () => {
  // The rows of whole blocks; the table of faces is as full as it gets before it grows.
  const { table } = openFilledTable(1_024, 16_384)
  const bytes = table.bytes() / 16_384 - dimensions * 4
  const codesOf256Values = 256 - dimensions
  assert.ok(bytes + codesOf256Values <= 450, `${bytes + codesOf256Values} bytes`)
})
