import type { ActionCalls } from './actions/action-calls.ts'
import type { Actions } from './contract.ts'
import { createActionCalls, type ExecuteAction } from './actions/create-action-calls.ts'
import { throwFailures, returnFailures } from './actions/failure-mode.ts'
import {
  readEnvelope,
  readValidation,
  type ActionName,
  type CallValidation,
} from './actions/read-envelope.ts'
import { toImageItem, type DescribedImage, type Platform } from './image/to-image-item.ts'
import { readOptions, type CallOptions, type ClientOptions } from './options.ts'
import { generateRequestId } from './actions/request-id.ts'
import type { ServiceResponse } from './http/attempt.ts'
import { sendWithRetries } from './http/send-with-retries.ts'
import { toJson } from './http/to-json.ts'
import { createRoutes, type Routes } from './routes.ts'

/** A client of one service with one key. It keeps no connection and does not need to be closed. */
export interface PlatformClient<Image> extends ActionCalls<Image, 'throw'>, Routes {
  /**
   * Checks a call, with the parameters of the HTTP API, and returns its price. Nothing is run, changed
   * or charged. @throws FacegateError as the call would, as far as it needs no image and no subject.
   */
  readonly validate: <Name extends ActionName>(
    action: Name,
    params: Actions[Name]['params'],
    options?: CallOptions,
  ) => Promise<CallValidation>
  /** The same actions, but failures are returned. Only an abort is still thrown. */
  readonly try: ActionCalls<Image, 'try'>
}

/** @throws TypeError that names the invalid option. */
export function createPlatformClient<Source>(
  options: ClientOptions,
  platform: Platform<Source>,
): PlatformClient<Source | DescribedImage<Source>> {
  const settings = readOptions(options)
  const send = <Value>(
    action: ActionName,
    content: object,
    options: CallOptions,
    parse: (response: ServiceResponse) => Value,
  ) => {
    const { requestId = generateRequestId(), debug } = options
    const request = {
      method: 'POST',
      path: '/v1/face/execute',
      // Built once: every attempt sends the same request with the same id.
      body: toJson({ action, requestId, ...content, ...(debug && { debug }) }),
      operation: action,
      requestId,
      retryPolicy: 'always',
      parse,
    } as const
    return sendWithRetries(request, settings, options)
  }
  const execute: ExecuteAction = <Name extends ActionName>(
    action: Name,
    params: Actions[Name]['params'],
    options: CallOptions = {},
  ) => send(action, { params }, options, readEnvelope<Actions[Name]['value']>)
  const validate = async (action: ActionName, params: object, options: CallOptions = {}) =>
    send(action, { params, validateOnly: true }, options, readValidation)
  const routes = createRoutes((request, options = {}) =>
    sendWithRetries(request, settings, options),
  )
  const dependencies = {
    execute,
    subjectPage: routes.subjects.page,
    toImageItem: (image: Source | DescribedImage<Source>) => toImageItem(image, platform),
  }
  return Object.freeze({
    ...createActionCalls({ ...dependencies, handleResult: throwFailures }),
    ...routes,
    validate,
    try: Object.freeze(createActionCalls({ ...dependencies, handleResult: returnFailures })),
  })
}
