import type { Calls } from './calls.ts'
import type { Actions } from './contract.ts'
import { createCalls, type Execute } from './create-calls.ts'
import { throwing, trying } from './ending.ts'
import { readEnvelope, type ActionName } from './envelope.ts'
import { toItem, type DescribedImage, type Platform } from './image.ts'
import { readOptions, type CallOptions, type ClientOptions } from './options.ts'
import { newRequestId } from './request-id.ts'
import { send } from './retry.ts'
import { createRoutes, type Routes } from './routes.ts'

/** A client of one service under one key. It holds no connection and needs no closing. */
export interface Client<Image> extends Calls<Image, 'throw'>, Routes {
  /** The same actions, whose failures are values; only an abort is still thrown. */
  readonly try: Calls<Image, 'try'>
}

/** @throws TypeError that names the option that is wrong. */
export function clientFor<Source>(
  options: ClientOptions,
  platform: Platform<Source>,
): Client<Source | DescribedImage<Source>> {
  const settings = readOptions(options)
  const execute: Execute = <Name extends ActionName>(
    action: Name,
    params: Actions[Name]['params'],
    options: CallOptions = {},
  ) => {
    const { requestId = newRequestId(), debug } = options
    const exchange = {
      method: 'POST',
      path: '/v1/face/execute',
      // Made once: every attempt sends the same request under the same id.
      body: JSON.stringify({ action, requestId, params, ...(debug && { debug }) }),
      operation: action,
      requestId,
      retry: 'always',
      read: readEnvelope<Actions[Name]['value']>,
    } as const
    return send(exchange, settings, options)
  }
  const tools = {
    execute,
    toItem: (image: Source | DescribedImage<Source>) => toItem(image, platform),
  }
  return Object.freeze({
    ...createCalls({ ...tools, end: throwing }),
    ...createRoutes((exchange, options = {}) => send(exchange, settings, options)),
    try: Object.freeze(createCalls({ ...tools, end: trying })),
  })
}
