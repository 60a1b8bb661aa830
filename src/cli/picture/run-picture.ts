import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { z } from 'zod'
import { detect } from '../../actions/detect.ts'
import { identify } from '../../actions/identify.ts'
import { verify } from '../../actions/verify.ts'
import type { FaceValue } from '../../actions/schemas/fields.ts'
import { contentTypeOf } from '../../lib/image-types/image-types.ts'
import { type CommandValues, UsageError, formatTable, print } from '../command.ts'
import type { MarkedFace } from './draw-faces.ts'
import { requireService, type ServiceOptions } from '../context/saved-context.ts'
import { detailOf, envelopeSchema, requestService } from '../import/enroll-sender.ts'
import { parseJsonText } from '../import/list-entries.ts'
import { quantity } from '../quantity.ts'
import { version } from '../version.ts'

type PictureOptions = CommandValues<'picture', 'url' | 'key' | 'draw'>

type IdentifyPictureOptions = PictureOptions & {
  readonly group: string | undefined
  readonly threshold: number | undefined
  readonly 'max-faces': number | undefined
}

export async function runDetect({
  picture,
  'max-faces': maxFaces,
  ...options
}: PictureOptions & Pick<IdentifyPictureOptions, 'max-faces'>): Promise<void> {
  const value = await executeAction(detect, { files: [picture], maxFaces }, options)
  const drawn = value.faces.map((face, index) => ({
    ...face,
    text: String(index + 1),
    isMatch: true,
  }))
  await drawIfGiven(picture, drawn, options.draw)
  print(value, options.json, () =>
    value.faces.length === 0 ? 'no face' : formatTable(faceColumns, value.faces.map(faceCells)),
  )
}

export async function runIdentify(values: IdentifyPictureOptions): Promise<void> {
  const { picture, group, threshold, 'max-faces': maxFaces, draw, json } = values
  const groups = group === undefined ? undefined : [group]
  const params = { files: [picture], groups, threshold, maxFaces }
  const value = await executeAction(identify, params, values)
  const results = value.faces.map((face) => {
    const [best] = face.matched ? face.candidates : []
    const name = best && (best.displayName ?? best.externalId ?? best.subjectId)
    const note = face.ambiguous ? ' (ambiguous)' : ''
    return { face, name: name === undefined ? 'no match' : `${name}${note}`, best }
  })
  const drawn = results.map(({ face, name, best }) => ({
    ...face,
    text: best ? `${name} ${best.similarity.toFixed(2)}` : name,
    isMatch: best !== undefined,
  }))
  await drawIfGiven(picture, drawn, draw)
  const table = () =>
    formatTable(
      [...faceColumns, 'subject', 'similarity', 'subjectId'],
      results.map(({ face, name, best }, index) => [
        ...faceCells(face, index),
        name,
        best?.similarity.toFixed(4) ?? '',
        best?.subjectId ?? '',
      ]),
    )
  const gallery = `threshold ${value.threshold.toFixed(2)}, ${quantity(value.gallerySize, 'subject')}`
  print(value, json, () => `${table()}\n${gallery}`)
}

type VerifyPictureOptions = PictureOptions &
  CommandValues<never, 'other' | 'subject' | 'external-id'> &
  Pick<IdentifyPictureOptions, 'threshold'>

export async function runVerify(values: VerifyPictureOptions): Promise<void> {
  const { picture, other, subject: subjectId, 'external-id': externalId, threshold } = values
  if ([other, subjectId, externalId].filter((given) => given !== undefined).length !== 1)
    throw new UsageError('give exactly one of a second picture, --subject and --external-id')
  const files = other === undefined ? [picture] : [picture, other]
  const params = { files, subjectId, externalId, threshold }
  const value = await executeAction(verify, params, values)
  const similarity = value.similarity.toFixed(4)
  const result = `${value.matched ? 'match' : 'no match'}: similarity ${similarity}, threshold ${value.threshold.toFixed(2)}`
  const drawn = { ...value.probe, text: similarity, isMatch: value.matched }
  await drawIfGiven(picture, [drawn], values.draw)
  print(value, values.json, () => result)
}

const faceColumns = ['face', 'left', 'top', 'width', 'height', 'confidence', 'quality']

function faceCells({ boundingBox: box, confidence, quality }: FaceValue, index: number) {
  const pixels = [box.left, box.top, box.width, box.height].map(String)
  return [String(index + 1), ...pixels, confidence.toFixed(2), `${quality.score} ${quality.level}`]
}

async function drawIfGiven(
  picture: string,
  faces: readonly MarkedFace[],
  file: string | undefined,
): Promise<void> {
  if (file !== undefined) await (await import('./draw-faces.ts')).drawFaces(picture, faces, file)
}

/** Time for the response, with the wait for a free worker. */
const responseMsMax = 120_000

/**
 * Sends pictures to an action of a running service and returns the value of its first result.
 *
 * @throws UsageError without a key, or if `draw` is one of the pictures; Error with the code, the
 *   reason and the remedy of a failed call.
 */
async function executeAction<Value extends z.ZodType>(
  action: { readonly name: string; readonly value: Value },
  { files, ...params }: { readonly files: readonly string[]; readonly [name: string]: unknown },
  { draw, ...options }: ServiceOptions & Pick<PictureOptions, 'draw'>,
): Promise<z.output<Value>> {
  const { url, key } = requireService(options)
  if (files.some((file) => draw !== undefined && path.resolve(file) === path.resolve(draw)))
    throw new UsageError(`--draw ${draw} would replace the picture: give another file`)
  const images = await Promise.all(files.map(readPicture))
  const request = {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ action: action.name, params: { ...params, images } }),
  }
  const response = await requestService(url, '/v1/face/execute', request, responseMsMax)
  const text = await response.text()
  const envelope = parseJsonText(envelopeSchema, text)
  if (!envelope)
    throw new Error(`${url} returned HTTP ${response.status}: ${detailOf(text) || 'no envelope'}`)
  const [error] = envelope.errors
  if (error) throw new Error([`${error.code}: ${error.message}`, error.hint ?? ''].join(' ').trim())
  const value = action.value.safeParse(envelope.data?.results[0]?.value)
  if (!value.success)
    throw new Error(`${url} returned no value of ${action.name}; is it Facegate ${version}?`)
  return value.data
}

async function readPicture(file: string) {
  const bytes = await readFile(file)
  const contentType = contentTypeOf(bytes)
  if (!contentType) throw new Error(`${file} is not a picture; pass a JPEG or a PNG`)
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}
