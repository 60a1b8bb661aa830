/**
 * Measures how well visitors are recognized: replays the pictures of people in random order through the
 * rule of svc.identify.
 *
 *   node eval/visitors/measure.ts <folder of the mixtures> <folder|pairs.csv> [replays, 10]
 *
 * The people are split at random into two halves. The template is learned from one half and measured
 * on the other. `fit` chooses the rule on the first half, `report` measures it on the other one, with
 * the template of the first half. The similarities are those of the table that ships.
 *
 * `purity` is the share of pictures whose visitor has most pictures of that person; `mixed` are visitors
 * with pictures of several people. `ids` are the visitors per person with at least two pictures.
 */
import { markdownTable } from '../../bench/support/table.ts'
import {
  addedFaceSimilarityMax,
  visitorFacesMax,
} from '../../src/actions/parts/search/unknown-faces.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import shippedTable from '../../src/gallery/calibration/dlib-faceres-256@1.json' with { type: 'json' }
import {
  autoThreshold,
  scoreOf,
  similarityAt,
  type Calibration,
} from '../../src/gallery/calibration/similarity.ts'
import { openDensityKernel } from '../../src/lib/density/density-kernel.ts'
import { mergeTemplates, spreadShares } from '../../src/lib/density/merge-templates.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { fuseEmbeddings, projectToAxes } from '../../src/vision/embed/create-template.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { embedFaceSet } from '../fit/embed-face-set.ts'
import { fitTemplateModel, type PersonEmbedding } from '../fit/fit-template-model.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'

type Rule = {
  readonly facesMax: number
  /** A picture with a lower similarity adds a template. */
  readonly addBelow: number
  /** Instead of the threshold of a gallery with as many subjects. */
  readonly threshold?: number
}

const shipped: Rule = { facesMax: visitorFacesMax, addBelow: addedFaceSimilarityMax }
const rules: readonly Rule[] = [
  ...[1, 2, 3, 5, 10].map((facesMax) => ({ facesMax, addBelow: 1 })),
  ...[0.9, 0.95, 0.98].map((addBelow) => ({ facesMax: visitorFacesMax, addBelow })),
  ...[0.75, 0.8, 0.85].map((threshold) => ({ ...shipped, threshold })),
  shipped,
]
const templateOptions = { dimensions: 256, seed: 1 }
const calibration = shippedTable as unknown as Calibration

type ReplayedPicture = { readonly person: string; readonly template: Template }

function learn(
  samples: readonly PersonEmbedding[],
  fused: readonly Float32Array[],
): (sample: PersonEmbedding) => ReplayedPicture {
  const fit = fitTemplateModel(samples, templateOptions)
  const added = fused.flatMap((row) => [...projectToAxes(row, fit)])
  const cohort = Float32Array.from([...fit.cohort, ...added])
  const densityOf = openDensityKernel({ ...fit, cohort }, templateOptions.dimensions)
  return ({ person, embedding: { dlib, faceres } }) => {
    const vector = projectToAxes(fuseEmbeddings({ dlib, faceres }, fit.centre, fit.dlibWeight), fit)
    const { modelId } = calibration
    return { person, template: { modelId, vector, density: densityOf(vector) } }
  }
}

type Visitor = { faces: Template[]; merged: Template; readonly people: string[] }

function replay(pictures: readonly ReplayedPicture[], rule: Rule): readonly Visitor[] {
  const visitors: Visitor[] = []
  for (const { person, template } of pictures) {
    const [best] = visitors
      .map((visitor) => ({
        visitor,
        similarity: similarityAt(scoreOf(template, visitor.merged), calibration),
      }))
      .toSorted((a, b) => b.similarity - a.similarity)
    if (!best || best.similarity < (rule.threshold ?? autoThreshold(visitors.length))) {
      visitors.push({ faces: [template], merged: template, people: [person] })
      continue
    }
    const { visitor, similarity } = best
    visitor.people.push(person)
    if (similarity >= rule.addBelow || visitor.faces.length >= rule.facesMax) continue
    visitor.faces.push(template)
    visitor.merged = mergeTemplates(visitor.faces, spreadShares.subject)
  }
  return visitors
}

type ReplayCounts = { pictures: number; pure: number; mixed: number; ids: number; people: number }

function count(visitors: readonly Visitor[], total: ReplayCounts): void {
  const idsOf = new Map<string, number>()
  for (const { people } of visitors) {
    const sizes = Map.groupBy(people, (person) => person)
    total.pictures += people.length
    total.pure += Math.max(...[...sizes.values()].map(({ length }) => length))
    total.mixed += Number(sizes.size > 1)
    for (const person of sizes.keys()) idsOf.set(person, (idsOf.get(person) ?? 0) + 1)
  }
  const pictures = Map.groupBy(
    visitors.flatMap(({ people }) => people),
    (person) => person,
  )
  for (const [person, { length }] of pictures)
    if (length > 1) {
      total.people += 1
      total.ids += idsOf.get(person) ?? 0
    }
}

function measure(pictures: readonly ReplayedPicture[], rule: Rule): ReplayCounts {
  const total = { pictures: 0, pure: 0, mixed: 0, ids: 0, people: 0 }
  for (let seed = 0; seed < replays; seed++)
    count(replay(shuffled(seededRandom(seed), pictures), rule), total)
  return total
}

const [mixturesFolder, source, replaysText = '10'] = process.argv.slice(2)
if (!mixturesFolder || !source) throw new Error('pass the mixtures and a set')
const replays = Number(replaysText)
const { fused: mixtures } = await readMixtureRows(mixturesFolder, await readTemplateModel())
const samples = await embedFaceSet(source)
const [first = [], second = []] = foldsByPerson(samples, 2, 0)
const halves = {
  fit: first.map(learn(second, mixtures)),
  report: second.map(learn(first, mixtures)),
}
const rows = Object.entries(halves).flatMap(([half, pictures]) =>
  rules.map((rule) => {
    const { pictures: all, pure, mixed, ids, people } = measure(pictures, rule)
    return [
      half,
      String(rule.facesMax),
      String(rule.addBelow),
      String(rule.threshold ?? 'auto'),
      ((100 * pure) / all).toFixed(2),
      (mixed / replays).toFixed(1),
      (ids / people).toFixed(3),
      `${all / replays} pictures, ${people / replays} people`,
    ]
  }),
)
console.log(
  markdownTable(
    ['half', 'templates', 'added below', 'threshold', 'purity, %', 'mixed', 'ids', 'of'],
    rows,
  ),
)
