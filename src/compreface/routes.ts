import type { Route } from '../http/exchange.ts'
import { addFace } from './add-face.ts'
import { deleteFace, deleteFaceList, deleteFaces } from './delete-faces.ts'
import { detectFaces } from './detect.ts'
import { listFaces, showFace } from './faces.ts'
import { recognizeFaces } from './recognize.ts'
import { serve, type CompreFaceRoute, type ServeOptions } from './serve.ts'
import {
  addSubject,
  deleteSubject,
  deleteSubjects,
  listSubjects,
  renameSubject,
} from './subjects.ts'
import { verifyFace } from './verify-face.ts'
import { verifyPictures } from './verify.ts'

/** The routes of CompreFace's REST API (version 1), over the gate and the galleries of Facegate. */
export function comprefaceRoutes(options: ServeOptions): Route[] {
  return routes.map((route) => serve(route, options))
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
  verifyPictures,
]
