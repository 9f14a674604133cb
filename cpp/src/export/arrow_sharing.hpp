// Whether an export keeps its table alive, or copies what it needs.
#pragma once

#include "export/arrow.hpp"

namespace tradingdata::detail {

bool worth_sharing(const Table& table, const ArrowExport& wanted);

}  // namespace tradingdata::detail
