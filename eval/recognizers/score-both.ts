import { createProgressBar } from '../../src/cli/command.ts'
import { foldsByPerson, scoreHeldOut } from '../../src/evaluation/calibration/held-out-scores.ts'
import type { TemplateLearner } from '../../src/evaluation/calibration/learn-density.ts'
import { correctedScore } from '../../src/gallery/calibration/similarity.ts'
import shipped from '../../src/models/template/manifest.json' with { type: 'json' }
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'
import { learnExtended } from '../fit/template-learners.ts'
import type { BothEmbeddings } from './embed-both.ts'

/** The scores of a pair of images by both recognizers, and the people that the images show. */
export type RecognizerPair = {
  readonly people: readonly [string, string]
  readonly builtin: number
  readonly installed: number
}

/** Each model learns from six folds. */
const foldCount = 8

/** Learns the built-in template as it ships, with the cohort that the mixtures extend. */
export async function createBuiltinLearner(mixturesFolder: string) {
  const { fused } = await readMixtureRows(mixturesFolder, await readTemplateModel())
  const { dimensions, seed } = shipped.fitted
  return learnExtended('builtin', { dimensions, seed }, fused)
}

/** Distributes the samples to folds by person. */
export function toFolds(samples: readonly BothEmbeddings[]): BothEmbeddings[][] {
  return foldsByPerson(samples, foldCount, shipped.fitted.seed)
}

/**
 * Scores every pair of images by both recognizers. The built-in model of a pair has learnt from neither
 * person. The cohort of the installed recognizer contains none of the people.
 */
export function scoreBoth(
  samples: readonly BothEmbeddings[],
  learn: TemplateLearner<BothEmbeddings>,
): RecognizerPair[] {
  const sampleOf = new WeakMap<Template, BothEmbeddings>()
  const pairs: RecognizerPair[] = []
  const record = (a: Template, b: Template): number => {
    const builtin = correctedScore(a, b)
    const [first, second] = [sampleOf.get(a), sampleOf.get(b)]
    if (a !== b && first && second)
      pairs.push({
        people: [first.person, second.person],
        builtin,
        installed: correctedScore(first.installed, second.installed),
      })
    return builtin
  }
  const bar = createProgressBar('models')
  scoreHeldOut(
    toFolds(samples),
    (learning) => {
      const toTemplate = learn(learning)
      return (sample) => {
        const template = toTemplate(sample)
        sampleOf.set(template, sample)
        return template
      }
    },
    record,
    bar.update,
  )
  bar.end()
  return pairs
}
