# Thin: everything real is in meson.build and tools/.
BUILD ?= build

.PHONY: all
all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD)

.PHONY: check
check: all
	meson test -C $(BUILD) --print-errorlogs
