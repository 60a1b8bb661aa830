import type { Route } from '../http/route.ts'
import { addFace } from './routes/add-face.ts'
import { deleteFace, deleteFaceList, deleteFaces } from './routes/delete-faces.ts'
import { detectFaces } from './routes/detect-faces.ts'
import { listFaces, showFace } from './routes/faces.ts'
import { recognizeFaces } from './routes/recognize-faces.ts'
import { serveRoute, type CompreFaceRoute, type CompreFaceOptions } from './serve-route.ts'
import {
  addSubject,
  deleteSubject,
  deleteSubjects,
  listSubjects,
  renameSubject,
} from './routes/subjects.ts'
import { verifyFace } from './routes/verify-face.ts'
import { verifyImages } from './routes/verify-images.ts'

/** The routes of CompreFace's REST API (version 1), over the gate and the galleries of Facegate. */
export function comprefaceRoutes(options: CompreFaceOptions): Route[] {
  return routes.map((route) => serveRoute(route, options))
}

const routes: readonly CompreFaceRoute[] = [
  addFace,
  listFaces,
  deleteFaces,
  deleteFaceList,
  deleteFace,
  showFace,
  verifyFace,
  addSubject,
  listSubjects,
  // As the documentation of CompreFace writes it.
  { ...listSubjects, path: `${listSubjects.path}/` },
  renameSubject,
  deleteSubject,
  deleteSubjects,
  recognizeFaces,
  detectFaces,
  verifyImages,
]
