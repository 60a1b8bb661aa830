import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { DetectedFace, ImageContext } from '../image-context.ts'
import { createTemplates } from './create-templates.ts'
import type { PreviousRecognizer } from './open-recognizers.ts'
import type { EarlierVersion, Recognizer } from './recognizer.ts'

/** Returns a recognizer with one earlier version, and how often its networks ran. */
function countedRecognizer(id: string) {
  let runs = 0
  const modelId = `${id}@2`
  const earlierVersion: EarlierVersion = {
    modelId: `${id}@1`,
    fromTemplate: ({ vector }) => ({ modelId: `${id}@1`, vector, density: -1 }),
  }
  const recognizer: Recognizer = {
    modelId,
    providers: modelId,
    earlierVersions: [earlierVersion],
    createTemplate: async () => {
      runs += 1
      return { modelId, vector: Float32Array.of(runs), density: -2 }
    },
  }
  return { recognizer, earlierVersion, runs: () => runs }
}

// The recognizers of this test use neither of them.
const face = {} as DetectedFace
const context = {} as ImageContext

test('A template of an earlier version has the vector of the later one and needs no second run', async () => {
  const [active, former] = [countedRecognizer('active'), countedRecognizer('former')]
  const previous = new Map<string, PreviousRecognizer>([
    ['active@1', active],
    ['former@1', former],
    ['former@2', { recognizer: former.recognizer }],
  ])
  const recognizers = { active: active.recognizer, previous }
  const previousTemplates = ['active@1', 'former@2', 'former@1', 'unknown@1']
  const created = await createTemplates(recognizers, face, context, {
    templates: true,
    previousTemplates,
  })
  const vector = Float32Array.of(1)
  assert.deepEqual(created, {
    template: { modelId: 'active@2', vector, density: -2 },
    previousTemplates: [
      { modelId: 'active@1', vector, density: -1 },
      { modelId: 'former@2', vector, density: -2 },
      { modelId: 'former@1', vector, density: -1 },
    ],
  })
  assert.deepEqual([active.runs(), former.runs()], [1, 1])
  assert.deepEqual(await createTemplates(recognizers, face, context, {}), {})
})
