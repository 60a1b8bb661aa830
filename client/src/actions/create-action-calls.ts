import type {
  ActionCalls,
  IdentifyMethod,
  OneImageCalls,
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

/** The methods of the actions, which end as the mode says. */
export function createActionCalls<Image, M extends FailureMode>(
  tools: ActionCallDependencies<Image, M>,
): ActionCalls<Image, M> {
  const { execute, handleResult: end } = tools
  return {
    ...createOneImageCalls(tools),
    verify: createVerifyCall(tools),
    identify: createIdentifyCall(tools),
    updateSubject: createUpdateCall(tools),
    deleteSubject: (subjectId, options) =>
      end(execute('svc.deleteSubject', { subjectId }, options), singleValue),
    execute: (action, params, options) => end(execute(action, params, options), (all) => all),
  }
}

function createOneImageCalls<Image, M extends FailureMode>({
  execute,
  toImageItem: toItem,
  handleResult: end,
}: ActionCallDependencies<Image, M>) {
  const callOf = (action: (typeof oneImageActions)[keyof typeof oneImageActions]) => {
    const run = async (image: Image, params: object, options?: CallOptions) =>
      execute(action, { ...params, images: [await toItem(image)] }, options)
    return (image: Image, params: object = {}, options?: CallOptions) =>
      end<unknown, unknown>(run(image, params, options), singleValue)
  }
  const calls = Object.entries(oneImageActions).map(([name, action]) => [name, callOf(action)])
  // Built from the table that its type is made of.
  return Object.fromEntries(calls) as OneImageCalls<Image, M>
}

function createVerifyCall<Image, M extends FailureMode>(
  tools: ActionCallDependencies<Image, M>,
): ActionCalls<Image, M>['verify'] {
  const { execute, toImageItem: toItem, handleResult: end } = tools
  type Arguments = Parameters<ActionCalls<Image, M>['verify']>
  const run = async (...[probe, reference, params, options]: Arguments) => {
    const item = await toItem(probe)
    const named = isSubjectReference(reference)
      ? { ...reference, images: [item] }
      : { images: [item, await toItem(reference)] }
    return execute('svc.verify', { ...params, ...named }, options)
  }
  return (...call) => end(run(...call), singleValue)
}

function isSubjectReference(reference: unknown): reference is SubjectReference {
  if (typeof reference !== 'object' || reference === null) return false
  return 'subjectId' in reference || 'externalId' in reference
}

function createIdentifyCall<Image, M extends FailureMode>(
  tools: ActionCallDependencies<Image, M>,
): IdentifyMethod<Image, M> {
  const { execute, toImageItem: toItem, handleResult: end } = tools
  type Options = readonly [params?: Parameters<IdentifyMethod<Image, M>>[1], options?: CallOptions]
  const run = async (list: readonly Image[], [params, options]: Options) =>
    execute('svc.identify', { ...params, images: await Promise.all(list.map(toItem)) }, options)
  const call = (images: Image | readonly Image[], ...rest: Options) =>
    isList(images)
      ? end(run(images, rest), ({ results }) => results)
      : end(run([images], rest), singleValue)
  // One function answers both forms; which answer goes with which is what its overloads tell.
  return call as IdentifyMethod<Image, M>
}

function isList<Image>(images: Image | readonly Image[]): images is readonly Image[] {
  return Array.isArray(images)
}

function createUpdateCall<Image, M extends FailureMode>({
  execute,
  toImageItem: toItem,
  handleResult: end,
}: ActionCallDependencies<Image, M>) {
  type Call = ActionCalls<Image, M>['updateSubject']
  const run = async (...[subjectId, { image, ...changes }, options]: Parameters<Call>) => {
    const images = image === undefined ? {} : { images: [await toItem(image)] }
    return execute('svc.updateSubject', { ...changes, subjectId, ...images }, options)
  }
  const call: Call = (...all) => end(run(...all), singleValue)
  return call
}
