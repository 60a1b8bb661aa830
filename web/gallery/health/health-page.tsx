import { SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { GalleryIssue } from '../../api/responses.ts'
import { QueryContent } from '../../components/query-content.tsx'
import { Page } from '../../layout/page.tsx'
import { ProjectScope } from '../../projects/project-scope.tsx'
import { DecisionLists } from '../duplicates/decision-lists.tsx'
import { DuplicateList } from '../duplicates/duplicate-list.tsx'
import { useDecisions } from '../duplicates/use-decisions.tsx'
import { SubjectDrawer } from '../subject-drawer.tsx'
import { CheckStatus } from './check-status.tsx'
import { IssueList } from './issue-list.tsx'
import { healthIssues } from './issue-texts.ts'
import { useGalleryCheck } from './use-gallery-check.ts'

const route = getRouteApi('/gallery-health')

const tabs = [
  { value: 'issues', label: 'Issues' },
  { value: 'duplicates', label: 'Duplicates' },
  { value: 'decisions', label: 'Decisions' },
]

/** The check of a gallery: wrong pictures, duplicates, and the decisions about them. */
export function GalleryHealthPage() {
  return (
    <Page
      title="Gallery health"
      description="Wrong, harmful and missing pictures, look-alikes and people who are enrolled twice, each with its remedy."
    >
      <ProjectScope>
        {(projectId) => <GalleryHealth key={projectId} projectId={projectId} />}
      </ProjectScope>
    </Page>
  )
}

function GalleryHealth({ projectId }: { readonly projectId: string }) {
  const { tab = 'issues', issue, subject } = route.useSearch()
  const navigate = route.useNavigate()
  const check = useGalleryCheck(projectId)
  const decisions = useDecisions(projectId)
  const { measured } = check
  const openSubject = (subjectId: string | undefined): void =>
    void navigate({
      search: (old) => ({ ...old, subject: subjectId }),
      replace: subjectId === undefined,
    })
  return (
    <>
      <SegmentedControl
        aria-label="Content"
        size="xs"
        style={{ alignSelf: 'start' }}
        data={tabs}
        value={tab}
        onChange={(value) => void navigate({ search: (old) => ({ ...old, tab: value }) })}
      />
      <QueryContent query={check.query}>
        {({ merges, distinct }) => (
          <>
            {tab !== 'decisions' && <CheckStatus check={check} />}
            {tab === 'issues' && measured && (
              <IssueList
                projectId={projectId}
                result={measured}
                issue={healthIssues.find((name) => name === issue)}
                onIssueChange={(chosen: GalleryIssue | undefined) =>
                  void navigate({ search: (old) => ({ ...old, issue: chosen }), replace: true })
                }
              />
            )}
            {tab === 'duplicates' && measured && (
              <DuplicateList
                projectId={projectId}
                duplicates={measured.duplicates}
                distinct={distinct}
                decisions={decisions}
              />
            )}
            {tab === 'decisions' && (
              <DecisionLists projectId={projectId} merges={merges} distinct={distinct} />
            )}
          </>
        )}
      </QueryContent>
      {subject && (
        <SubjectDrawer
          projectId={projectId}
          subjectId={subject}
          onOpen={openSubject}
          onClose={() => openSubject(undefined)}
        />
      )}
    </>
  )
}
