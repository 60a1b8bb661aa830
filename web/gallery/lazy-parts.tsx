import { Skeleton } from '@mantine/core'
import { lazy, Suspense, type ComponentProps } from 'react'

const LazyEnrollDrawer = lazy(async () => ({
  default: (await import('./subjects/enroll-drawer.tsx')).EnrollDrawer,
}))
const LazyImportDrawer = lazy(async () => ({
  default: (await import('./import/import-drawer.tsx')).ImportDrawer,
}))
const LazyPictureSearch = lazy(async () => ({
  default: (await import('./people/picture-search.tsx')).PictureSearch,
}))
const LazyBulkActions = lazy(async () => ({
  default: (await import('./subjects/bulk-actions.tsx')).BulkActions,
}))
const LazySimilarSubjects = lazy(async () => ({
  default: (await import('./duplicates/similar-subjects.tsx')).SimilarSubjects,
}))
const LazySubjectVisitors = lazy(async () => ({
  default: (await import('./visitors/subject-visitors.tsx')).SubjectVisitors,
}))
const LazySubjectMatchDays = lazy(async () => ({
  default: (await import('./people/match-days.tsx')).SubjectMatchDays,
}))
const LazyVisitorList = lazy(async () => ({
  default: (await import('./visitors/visitor-list.tsx')).VisitorList,
}))

/** These parts of the subjects page load when the user opens them. */
export const EnrollDrawer = (props: ComponentProps<typeof LazyEnrollDrawer>) => (
  <Suspense>
    <LazyEnrollDrawer {...props} />
  </Suspense>
)
export const ImportDrawer = (props: ComponentProps<typeof LazyImportDrawer>) => (
  <Suspense>
    <LazyImportDrawer {...props} />
  </Suspense>
)
export const PictureSearch = (props: ComponentProps<typeof LazyPictureSearch>) => (
  <Suspense fallback={<Skeleton h={44} />}>
    <LazyPictureSearch {...props} />
  </Suspense>
)
export const BulkActions = (props: ComponentProps<typeof LazyBulkActions>) => (
  <Suspense fallback={<Skeleton h={60} />}>
    <LazyBulkActions {...props} />
  </Suspense>
)
export const SimilarSubjects = (props: ComponentProps<typeof LazySimilarSubjects>) => (
  <Suspense fallback={<Skeleton h={60} />}>
    <LazySimilarSubjects {...props} />
  </Suspense>
)
export const SubjectVisitors = (props: ComponentProps<typeof LazySubjectVisitors>) => (
  <Suspense>
    <LazySubjectVisitors {...props} />
  </Suspense>
)
export const SubjectMatchDays = (props: ComponentProps<typeof LazySubjectMatchDays>) => (
  <Suspense fallback={<Skeleton h={60} />}>
    <LazySubjectMatchDays {...props} />
  </Suspense>
)
export const VisitorList = (props: ComponentProps<typeof LazyVisitorList>) => (
  <Suspense fallback={<Skeleton h={240} />}>
    <LazyVisitorList {...props} />
  </Suspense>
)
