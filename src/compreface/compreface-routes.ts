import type { Route } from '../http/route.ts'
import { addFace, detectFaces, recognizeFaces, verifyFace, verifyImages } from './routes/images.ts'
import * as subjects from './routes/subjects.ts'
import { embeddingRoutes, showFace, staticImageRoute } from './routes/unavailable.ts'
import {
  serveCompreFaceRoute,
  type CompreFaceOptions,
  type CompreFaceRoute,
} from './serve-route.ts'

/** The routes of the CompreFace REST API (version 1), served by the gate and the galleries. */
export function comprefaceRoutes(options: CompreFaceOptions): Route[] {
  return [
    ...compreFaceRouteList.map((route) => serveCompreFaceRoute(route, options)),
    staticImageRoute(options.log),
  ]
}

/** The routes that need a key, in the order of the documentation. */
export const compreFaceRouteList: readonly CompreFaceRoute[] = [
  addFace,
  subjects.listFaces,
  subjects.deleteFaces,
  subjects.deleteFaceList,
  subjects.deleteFace,
  showFace,
  verifyFace,
  subjects.addSubject,
  subjects.listSubjects,
  subjects.renameSubject,
  subjects.deleteSubject,
  subjects.deleteSubjects,
  recognizeFaces,
  detectFaces,
  verifyImages,
  ...embeddingRoutes,
]
