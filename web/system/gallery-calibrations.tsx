import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryCalibration } from '../api/responses.ts'
import { FalseMatchRateChart } from '../charts/lazy-charts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { formatCount } from '../format/numbers.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { CalibrateButton } from './calibration/calibrate-button.tsx'
import { RevertCalibrationDialog } from './revert-calibration-dialog.tsx'

type Props = { readonly calibrations: readonly GalleryCalibration[] }

/** The tables that were measured on galleries, beside that of the model. */
export function GalleryCalibrations({ calibrations }: Props) {
  const [reverted, setReverted] = useState<GalleryCalibration>()
  return (
    <Stack>
      <Group>
        <CalibrateButton />
      </Group>
      {calibrations.length === 0 && (
        <EmptyState title="All galleries use the table of the model">
          A calibration measures the rates on the subjects of a gallery.
        </EmptyState>
      )}
      {calibrations.map((calibration) => (
        <GalleryCalibrationSection
          key={calibration.calibrationId}
          calibration={calibration}
          onRevert={() => setReverted(calibration)}
        />
      ))}
      {reverted && (
        <RevertCalibrationDialog calibration={reverted} onClose={() => setReverted(undefined)} />
      )}
    </Stack>
  )
}

type SectionProps = { readonly calibration: GalleryCalibration; readonly onRevert: () => void }

function GalleryCalibrationSection({ calibration, onRevert }: SectionProps) {
  const { projects, modelId, isUsed, subjects, pairs, appliedAtUtc, appliedBy, points } =
    calibration
  return (
    <section>
      <Group justify="space-between">
        <Text fw={600}>{projects.map(({ name }) => name).join(', ') || 'No project'}</Text>
        <Button variant="default" size="xs" disabled={projects.length === 0} onClick={onRevert}>
          Revert
        </Button>
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {modelId}, {formatCount(subjects)} subjects, {formatCount(pairs)} pairs, applied{' '}
        <UtcTime timestampUtc={appliedAtUtc} /> by {appliedBy}.{' '}
        {!isUsed && 'The active model is another one, so this table has no effect.'}
      </Text>
      {isUsed && (
        <>
          <FalseMatchRateChart points={points} />
          <DataTable
            caption="Scores of this gallery and of the model"
            rows={points}
            rowKey={({ fmr }) => String(fmr)}
            columns={columns}
            empty={null}
          />
        </>
      )}
    </section>
  )
}

const columns: readonly Column<GalleryCalibration['points'][number]>[] = [
  { name: 'Similarity', align: 'right', renderCell: ({ similarity }) => similarity.toFixed(2) },
  { name: 'False-match rate', align: 'right', renderCell: ({ fmr }) => fmr.toExponential(0) },
  { name: 'Score, gallery', align: 'right', renderCell: ({ score }) => score.toFixed(4) },
  { name: 'Score, model', align: 'right', renderCell: ({ modelScore }) => modelScore.toFixed(4) },
  { name: 'Method', renderCell: ({ source }) => source },
]
