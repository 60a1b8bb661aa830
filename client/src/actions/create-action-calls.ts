import type {
  ActionCalls,
  IdentifyMethod,
  IdentifyOptions,
  OneImageCalls,
  StoredFaceReference,
  SubjectReference,
  VerifyOptions,
} from './action-calls.ts'
import { oneImageActions, type Actions, type ImageItem } from '../contract.ts'
import { FacegateError, invalidArgument } from '../facegate-error.ts'
import { singleValue, type ResultHandler, type FailureMode } from './failure-mode.ts'
import type { ActionName, ActionResponse } from './read-envelope.ts'
import type { CallOptions } from '../options.ts'
import type { Routes } from '../routes.ts'

/** Sends an action. @throws FacegateError. */
export type ExecuteAction = <Name extends ActionName>(
  action: Name,
  params: Actions[Name]['params'],
  options: CallOptions | undefined,
) => Promise<ActionResponse<Actions[Name]['value']>>

export type ActionCallDependencies<Image, M extends FailureMode> = {
  readonly execute: ExecuteAction
  readonly toImageItem: (image: Image) => Promise<ImageItem>
  readonly handleResult: ResultHandler<M>
  /** Reads subjects: `svc.deleteSubject` takes no external id. */
  readonly subjectPage: Routes['subjects']['page']
}

/** Creates the methods of the actions. `handleResult` decides how a call returns or fails. */
export function createActionCalls<Image, M extends FailureMode>(
  dependencies: ActionCallDependencies<Image, M>,
): ActionCalls<Image, M> {
  const { execute, handleResult, subjectPage } = dependencies
  return {
    ...createOneImageCalls(dependencies),
    enroll: createEnrollCall(dependencies),
    verify: createVerifyCall(dependencies),
    identify: createIdentifyCall(dependencies),
    sendLivenessFrames: createFramesCall(dependencies),
    updateSubject: createUpdateCall(dependencies),
    deleteSubject: (subject, options) => {
      const run = async () => {
        const subjectId = await findSubjectId(readReference(subject), options, subjectPage)
        return execute('svc.deleteSubject', { subjectId }, options)
      }
      return handleResult(run, singleValue, options)
    },
    execute: (action, params, options) => {
      const run = async () => execute(action, params, options)
      return handleResult(run, (response) => response, options)
    },
  }
}

function createOneImageCalls<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>) {
  const createCall = (action: (typeof oneImageActions)[keyof typeof oneImageActions]) => {
    return (pictures: Image | readonly Image[], params: object = {}, options?: CallOptions) => {
      const isSeveral = isList(pictures)
      const run = async () => {
        const images = await toImageItems(isSeveral ? pictures : [pictures], toImageItem)
        const several = isSeveral ? { allImages: true } : {}
        return execute(action, { ...params, ...several, images }, options)
      }
      const select = isSeveral ? resultsOf : singleValue
      return handleResult<unknown, unknown>(run, select, options)
    }
  }
  const calls = Object.entries(oneImageActions).map(([name, action]) => [name, createCall(action)])
  // The type is derived from the same table.
  return Object.fromEntries(calls) as OneImageCalls<Image, M>
}

function createEnrollCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): ActionCalls<Image, M>['enroll'] {
  type Arguments = Parameters<ActionCalls<Image, M>['enroll']>
  const run = async (...[pictures, params, options]: Arguments) => {
    const isSeveral = isList(pictures)
    const images = await toImageItems(isSeveral ? pictures : [pictures], toImageItem)
    const several = isSeveral ? { allImages: true } : {}
    return execute('svc.enroll', { ...params, ...several, images }, options)
  }
  return (...args) => handleResult(() => run(...args), singleValue, args[2])
}

function createVerifyCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): ActionCalls<Image, M>['verify'] {
  type Options = readonly [params?: VerifyOptions, options?: CallOptions]
  const run = async (
    probe: Image | readonly Image[],
    reference: Image | SubjectReference,
    [params, options]: Options,
  ) => {
    if (isSubjectReference(reference)) {
      const images = await toImageItems(isList(probe) ? probe : [probe], toImageItem)
      const several = isList(probe) ? { sameSubject: true } : {}
      const request = { ...params, ...several, ...readReference(reference), images }
      return execute('svc.verify', request, options)
    }
    if (isList(probe)) throw invalidArgument('several images can be compared with a subject only')
    const images = [await toImageItem(probe), await toImageItem(reference)]
    return execute('svc.verify', { ...params, images }, options)
  }
  return (probe: Image | readonly Image[], reference: Image | SubjectReference, ...rest: Options) =>
    handleResult(() => run(probe, reference, rest), singleValue, rest[1])
}

function isSubjectReference(reference: unknown): reference is SubjectReference {
  if (typeof reference !== 'object' || reference === null) return false
  return 'subjectId' in reference || 'externalId' in reference
}

/**
 * Returns the one id of a reference; text is a `subjectId`.
 *
 * @throws FacegateError INVALID_ARGUMENT if there is none, or if there are two.
 */
function readReference(reference: string | SubjectReference): SubjectReference {
  if (typeof reference === 'string') return { subjectId: reference }
  const { subjectId, externalId } = reference ?? {}
  if (isId(subjectId) && !isId(externalId)) return { subjectId }
  if (isId(externalId) && !isId(subjectId)) return { externalId }
  throw invalidArgument('exactly one of subjectId and externalId is required')
}

/** @throws FacegateError SUBJECT_NOT_FOUND if the gallery has no subject with the external id. */
async function findSubjectId(
  { subjectId, externalId }: SubjectReference,
  options: CallOptions | undefined,
  subjectPage: Routes['subjects']['page'],
): Promise<string> {
  if (subjectId !== undefined) return subjectId
  const [subject] = (await subjectPage({ externalId }, options)).items
  if (subject) return subject.subjectId
  const message = 'the gallery contains no subject with this externalId'
  throw new FacegateError([{ code: 'SUBJECT_NOT_FOUND', message }])
}

/** Programs in JavaScript can pass anything. */
function isId(id: string | null | undefined): id is string {
  return id !== undefined && id !== null
}

function createIdentifyCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): IdentifyMethod<Image, M> {
  type Rest = readonly [params?: IdentifyOptions, options?: CallOptions]
  const run = async (images: readonly Image[], [params, options]: Rest) =>
    execute('svc.identify', { ...params, images: await toImageItems(images, toImageItem) }, options)
  const search = async (stored: StoredFaceReference, [params, options]: Rest) =>
    execute('svc.identify', { ...params, ...stored }, options)
  const call = (sought: Image | readonly Image[] | StoredFaceReference, ...rest: Rest) => {
    const [params, options] = rest
    if (isStoredFace(sought)) return handleResult(() => search(sought, rest), singleValue, options)
    return isList(sought) && params?.sameSubject !== true
      ? handleResult(() => run(sought, rest), resultsOf, options)
      : handleResult(() => run(isList(sought) ? sought : [sought], rest), singleValue, options)
  }
  // One function implements all overloads, which TypeScript cannot check.
  return call as IdentifyMethod<Image, M>
}

function resultsOf<Value>({ results }: ActionResponse<Value>): ActionResponse<Value>['results'] {
  return results
}

function isStoredFace(sought: unknown): sought is StoredFaceReference {
  if (typeof sought !== 'object' || sought === null) return false
  return 'subjectId' in sought || 'externalId' in sought || 'faceId' in sought
}

/** Converts the images of a request. @throws FacegateError INVALID_ARGUMENT if there is none. */
async function toImageItems<Image>(
  images: readonly Image[],
  toImageItem: (image: Image) => Promise<ImageItem>,
): Promise<readonly [ImageItem, ...ImageItem[]]> {
  const [first, ...others] = images
  if (first === undefined) throw invalidArgument('at least one image is required')
  return [await toImageItem(first), ...(await Promise.all(others.map(toImageItem)))]
}

function isList<Image>(images: Image | readonly Image[]): images is readonly Image[] {
  return Array.isArray(images)
}

function createFramesCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): ActionCalls<Image, M>['sendLivenessFrames'] {
  type Arguments = Parameters<ActionCalls<Image, M>['sendLivenessFrames']>
  const run = async (...[livenessSessionId, frames, params, options]: Arguments) => {
    const images = await toImageItems(frames, toImageItem)
    return execute('svc.liveness', { ...params, livenessSessionId, images }, options)
  }
  return (...args) => handleResult(() => run(...args), singleValue, args[3])
}

function createUpdateCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>) {
  type Call = ActionCalls<Image, M>['updateSubject']
  const run = async (...[subject, { image, ...changes }, options]: Parameters<Call>) => {
    const reference = readReference(subject)
    // The service takes an external id without a subject id for that of the subject.
    if ('externalId' in reference && 'externalId' in changes)
      throw invalidArgument('an external id can be changed only by subjectId')
    const images = image === undefined ? {} : { images: [await toImageItem(image)] }
    return execute('svc.updateSubject', { ...changes, ...reference, ...images }, options)
  }
  const call: Call = (...args) => handleResult(() => run(...args), singleValue, args[2])
  return call
}
