import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import {
  countCertainImpostors,
  createRowScorer,
  fittedCohort,
  spreadLikeFaces,
  type CellRow,
} from '../../eval/fit/certain-impostors.ts'
import { readMixtureRows } from '../../eval/fit/mixture-rows.ts'
import { squaredDistance } from '../../src/lib/density/vectors.ts'
import { calibrationOf } from '../../src/gallery/calibration/calibrations.ts'
import { scoreAt } from '../../src/gallery/calibration/similarity.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { encodeFloat16 } from '../../src/models/template/float16.ts'

import manifest from '../../src/models/template/manifest.json' with { type: 'json' }
import { readTemplateModel, templateFolder } from '../../src/models/template/template-model.ts'
import { projectToAxes } from '../../src/vision/embed/create-template.ts'
import { evalDataFolder } from '../support/paths.ts'

const [mixtures = ''] = globSync(path.join(evalDataFolder, '*', 'children-256.f16'))
const folder = path.dirname(mixtures)
const skipWithoutRows = { skip: mixtures === '' && 'NOT MEASURED: eval-data is missing' }

test('Every file of the template model has the checksum and the size of the manifest', async () => {
  for (const [name, sha256] of Object.entries(manifest.files))
    assert.equal(sha256Of(await readFile(new URL(`${name}.f16`, templateFolder))), sha256, name)
  const { cohort, axes, mean, neighbours, modelId } = await readTemplateModel()
  assert.equal(modelId, `${manifest.id}@${manifest.version}`)
  assert.equal(cohort.length / (axes.length / mean.length), manifest.cohortRows)
  assert.equal(neighbours, manifest.neighbours)
  assert.ok(manifest.added.origin.length > 0 && manifest.added.terms.length > 0)
})

test('The table of the model belongs to the set of the manifest', async () => {
  const { modelId } = await readTemplateModel()
  const table = calibrationOf(modelId) ?? assert.fail(`there is no calibration of ${modelId}`)
  assert.ok(table.set.startsWith(manifest.fitted.set))
  assert.ok(table.people <= manifest.fitted.people && table.pictures <= manifest.fitted.pictures)
  assert.ok(table.impostorPairs > 300_000)
  assert.ok(table.set.includes(`${manifest.added.rows.toLocaleString('en')} mixtures`))
})

async function readAddedRows(): Promise<CellRow[]> {
  const model = await readTemplateModel()
  const { fused, cells } = await readMixtureRows(folder, model)
  return cells.map((cell, row) => {
    const vector = projectToAxes(fused[row] ?? assert.fail(), model)
    return { cell, vector }
  })
}

test(
  'The added rows of the cohort are the projections of the mixtures',
  skipWithoutRows,
  async () => {
    const rows = await readAddedRows()
    const fittedBytes = 2 * 256 * (manifest.cohortRows - manifest.added.rows)
    const bytes = await readFile(new URL('cohort.f16', templateFolder))
    const projected = rows.map(({ vector }) => encodeFloat16(vector))
    assert.ok(bytes.subarray(fittedBytes).equals(Buffer.concat(projected)))
    const { cohort } = await readTemplateModel()
    const fitted = Array.from({ length: fittedBytes / 512 }, (_, row) =>
      cohort.subarray(row * 256, (row + 1) * 256),
    )
    for (const { vector } of rows.filter((_, index) => index % 50 === 0))
      for (const row of fitted) assert.ok(squaredDistance(row, vector) > 0.3, 'rows are distinct')
  },
)

test(
  'At similarity 0.80, certain impostors match at the intended rate, with the added rows only',
  skipWithoutRows,
  async (t) => {
    const model = await readTemplateModel()
    const score = scoreAt(0.8, calibrationOf(model.modelId) ?? assert.fail())
    const fitted = fittedCohort(model)
    const rows = await readAddedRows()
    const probes = spreadLikeFaces(rows)
    const cells = rows.map(({ cell }) => cell)
    const ratesWith = (added: readonly CellRow[]) => {
      const scoreRows = createRowScorer(probes, { fitted, added })
      const counts = countCertainImpostors(cells, scoreRows, score)
      const { certain, girlAndBoy, girlAndBoyOfGroup } = counts
      t.diagnostic(`${certain.matches} of ${certain.pairs} certain impostors`)
      t.diagnostic(`${girlAndBoy.matches} of ${girlAndBoy.pairs} girls and boys`)
      return [certain, girlAndBoy, ...girlAndBoyOfGroup.values()].map(
        ({ matches, pairs }) => matches / pairs,
      )
    }
    for (const rate of ratesWith([])) assert.ok(rate > 2e-3, `${rate} without the added rows`)
    for (const rate of ratesWith(rows)) assert.ok(rate <= 1e-4, `${rate} with the added rows`)
  },
)
