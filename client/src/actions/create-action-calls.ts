import type {
  ActionCalls,
  IdentifyMethod,
  IdentifyOptions,
  OneImageCalls,
  StoredFaceReference,
  SubjectReference,
} from './action-calls.ts'
import { oneImageActions, type Actions, type ImageItem } from '../contract.ts'
import { singleValue, type ResultHandler, type FailureMode } from './failure-mode.ts'
import type { ActionName, ActionResponse } from './read-envelope.ts'
import type { CallOptions } from '../options.ts'

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
}

/** Creates the methods of the actions. `handleResult` decides how a call returns or fails. */
export function createActionCalls<Image, M extends FailureMode>(
  dependencies: ActionCallDependencies<Image, M>,
): ActionCalls<Image, M> {
  const { execute, handleResult } = dependencies
  return {
    ...createOneImageCalls(dependencies),
    verify: createVerifyCall(dependencies),
    identify: createIdentifyCall(dependencies),
    answerLivenessChallenge: createAnswerCall(dependencies),
    updateSubject: createUpdateCall(dependencies),
    deleteSubject: (subjectId, options) =>
      handleResult(execute('svc.deleteSubject', { subjectId }, options), singleValue),
    execute: (action, params, options) =>
      handleResult(execute(action, params, options), (response) => response),
  }
}

function createOneImageCalls<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>) {
  const createCall = (action: (typeof oneImageActions)[keyof typeof oneImageActions]) => {
    const run = async (image: Image, params: object, options?: CallOptions) =>
      execute(action, { ...params, images: [await toImageItem(image)] }, options)
    return (image: Image, params: object = {}, options?: CallOptions) =>
      handleResult<unknown, unknown>(run(image, params, options), singleValue)
  }
  const calls = Object.entries(oneImageActions).map(([name, action]) => [name, createCall(action)])
  // The type is derived from the same table.
  return Object.fromEntries(calls) as OneImageCalls<Image, M>
}

function createVerifyCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): ActionCalls<Image, M>['verify'] {
  type Arguments = Parameters<ActionCalls<Image, M>['verify']>
  const run = async (...[probe, reference, params, options]: Arguments) => {
    const item = await toImageItem(probe)
    const compared = isSubjectReference(reference)
      ? { ...reference, images: [item] }
      : { images: [item, await toImageItem(reference)] }
    return execute('svc.verify', { ...params, ...compared }, options)
  }
  return (...args) => handleResult(run(...args), singleValue)
}

function isSubjectReference(reference: unknown): reference is SubjectReference {
  if (typeof reference !== 'object' || reference === null) return false
  return 'subjectId' in reference || 'externalId' in reference
}

function createIdentifyCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): IdentifyMethod<Image, M> {
  type Rest = readonly [params?: IdentifyOptions, options?: CallOptions]
  const run = async (images: readonly Image[], [params, options]: Rest) => {
    const items = await Promise.all(images.map(toImageItem))
    return execute('svc.identify', { ...params, images: items }, options)
  }
  const call = (sought: Image | readonly Image[] | StoredFaceReference, ...rest: Rest) => {
    const [params, options] = rest
    if (isStoredFace(sought))
      return handleResult(execute('svc.identify', { ...params, ...sought }, options), singleValue)
    return isList(sought)
      ? handleResult(run(sought, rest), ({ results }) => results)
      : handleResult(run([sought], rest), singleValue)
  }
  // One function implements all overloads, which TypeScript cannot check.
  return call as IdentifyMethod<Image, M>
}

function isStoredFace(sought: unknown): sought is StoredFaceReference {
  if (typeof sought !== 'object' || sought === null) return false
  return 'subjectId' in sought || 'externalId' in sought || 'faceId' in sought
}

function isList<Image>(images: Image | readonly Image[]): images is readonly Image[] {
  return Array.isArray(images)
}

function createAnswerCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>): ActionCalls<Image, M>['answerLivenessChallenge'] {
  type Arguments = Parameters<ActionCalls<Image, M>['answerLivenessChallenge']>
  const run = async (...[challengeId, [frontal, ...others], params, options]: Arguments) => {
    const images = [
      await toImageItem(frontal),
      ...(await Promise.all(others.map(toImageItem))),
    ] as const
    return execute('svc.liveness', { ...params, challengeId, images }, options)
  }
  return (...args) => handleResult(run(...args), singleValue)
}

function createUpdateCall<Image, M extends FailureMode>({
  execute,
  toImageItem,
  handleResult,
}: ActionCallDependencies<Image, M>) {
  type Call = ActionCalls<Image, M>['updateSubject']
  const run = async (...[subjectId, { image, ...changes }, options]: Parameters<Call>) => {
    const images = image === undefined ? {} : { images: [await toImageItem(image)] }
    return execute('svc.updateSubject', { ...changes, subjectId, ...images }, options)
  }
  const call: Call = (...args) => handleResult(run(...args), singleValue)
  return call
}
