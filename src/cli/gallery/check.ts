import { checkStoredGallery } from '../../gallery/health/check-stored-gallery.ts'
import {
  healthIssues,
  issueTexts,
  type GalleryHealth,
  type SubjectHealth,
} from '../../gallery/health/check-gallery.ts'
import type { SubjectName } from '../../gallery/health/similar-subjects.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { type CommandValues, formatRows, formatTable, print, showProgress } from '../command.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { withProject } from '../with-store.ts'
import { quantity } from '../quantity.ts'

/** Checks the gallery of a project and prints the report. */
export async function checkProject({ project, json }: CommandValues<'project'>): Promise<void> {
  await withProject(project, async (store, _project, galleryId) => {
    const { recognizer } = await readActiveSet(modelsFolder())
    const shipped = await readRecognizerCalibration(recognizer)
    const masterKeyFile = masterKeyPath(readSettings())
    const options = { galleryId, shipped, masterKeyFile, onTemplates: () => undefined }
    const health = await showProgress('templates', (onProgress) =>
      checkStoredGallery(store, { ...options, onProgress }),
    )
    print(health, json, () => formatHealth(health))
  })
}

/** Rows of each table; --json prints all. */
const rowsMax = 20

function formatHealth(health: GalleryHealth): string {
  const { subjects, templates, unreadable, otherFaces, threshold, duplicates, results } = health
  const { predictedMisses: misses, issues } = health
  const found = healthIssues.filter((issue) => issues[issue] > 0)
  const shown = results.filter((result) => result.issues.length > 0).slice(0, rowsMax)
  return [
    `gallery    ${quantity(subjects, 'subject')}, ${quantity(templates, 'template')}`,
    `left out   ${quantity(otherFaces, 'face')} of other models, ${unreadable} that cannot be decrypted`,
    `threshold  ${threshold.toFixed(2)}`,
    misses
      ? `misses     ${(100 * misses.rate).toFixed(1)} % of new pictures, predicted from ${misses.probes} pictures`
      : 'misses     not predicted: fewer than 10 pictures have another picture of their subject',
    '',
    formatRows(found, {
      subjects: (issue) => issues[issue],
      issue: (issue) => issue,
      meaning: (issue) => issueTexts[issue].meaning,
      remedy: (issue) => issueTexts[issue].remedy,
    }),
    '',
    formatRows(duplicates.slice(0, rowsMax), {
      duplicate: ({ subjectA }) => nameOf(subjectA),
      of: ({ subjectB }) => nameOf(subjectB),
      similarity: ({ similarity }) => similarity.toFixed(3),
      'different people expected': ({ expected }) => expected.toPrecision(2),
    }),
    '',
    formatTable(['subject', 'issues', 'faces', 'look-alikes'], shown.map(toRow)),
  ].join('\n')
}

function toRow({ issues, pictures, lookAlikes, ...subject }: SubjectHealth): string[] {
  const faces = pictures
    .filter(({ issue }) => issue !== null)
    .map(({ faceId, belongsTo }) => `${faceId}${belongsTo ? ` is ${nameOf(belongsTo)}` : ''}`)
  const near = lookAlikes.map((other) => `${nameOf(other)} ${other.similarity.toFixed(3)}`)
  const isNear = issues.includes('lookAlike')
  return [nameOf(subject), issues.join(', '), faces.join(', '), isNear ? near.join(', ') : '']
}

function nameOf({ subjectId, externalId }: SubjectName): string {
  return externalId ?? subjectId
}
