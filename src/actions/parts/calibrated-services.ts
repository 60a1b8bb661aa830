import type { Caller, Services } from '../action.ts'

/**
 * Returns the services for one call of a project: its similarities are those of the calibration that
 * the project's gallery uses at the start of the call.
 */
export function calibratedServices(
  services: Services,
  { galleryId }: Pick<Caller, 'galleryId'>,
): Services {
  return { ...services, gallery: services.gallery.calibratedFor(galleryId) }
}
