-- CreateIndex
CREATE UNIQUE INDEX "AudienceSegment_name_key" ON "AudienceSegment"("name");
