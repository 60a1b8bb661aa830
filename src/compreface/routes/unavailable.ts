import { errorResponse } from '../../http/error-response.ts'
import type { Route } from '../../http/route.ts'
import { HttpError, invalidRequest } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { currentRequestId } from '../../lib/observability/call-trace.ts'
import { type CompreFaceRoute, compreFaceErrorFormat } from '../serve-route.ts'
import { defineJsonRoute } from '../prepare-action.ts'

const noImages =
  'Facegate does not store images of faces. Store the image yourself, with the image_id.'

/** CompreFace returns the image of a face; Facegate stores no images, so it always fails. */
export const showFace = defineJsonRoute('GET', '/api/v1/recognition/faces/:image_id/img', {
  permissions: ['subjects:read'],
  run: () => {
    throw new HttpError(404, noImages)
  },
})

/** The same image without a header. The key is in the path, so it is neither read nor checked. */
export function staticImageRoute(log: Log): Route {
  return {
    method: 'GET',
    path: '/api/v1/static/:key/images/:image_id',
    handle: () =>
      errorResponse(new HttpError(404, noImages), currentRequestId(), log, compreFaceErrorFormat),
  }
}

/** The routes that accept embeddings. The body is not read. */
export const embeddingRoutes: readonly CompreFaceRoute[] = (
  [
    ['/api/v1/recognition/embeddings/recognize', 'svc.identify'],
    ['/api/v1/recognition/embeddings/faces/:image_id/verify', 'svc.verify'],
    ['/api/v1/verification/embeddings/verify', 'svc.verify'],
  ] as const
).map(([path, permission]) =>
  defineJsonRoute('POST', path, {
    permissions: [permission],
    run: () => {
      throw invalidRequest(
        'Facegate neither accepts nor returns embeddings; send the image to the route without /embeddings',
      )
    },
  }),
)
